// PTX in: each .entry and each .func with a body becomes one Function. FORMAT.md, "PTX", says what becomes of what.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/source_error.h"
#include "ir/program.h"

namespace regduel::ir {

// What becomes of accesses to parameters that are in registers: of st.param before a call, ld.param behind it and at the entry.
enum class ParamCopies : std::uint8_t {
  Folded,  // the call itself names the registers wherever that is the same
  Kept,    // each is a copy, as it is a move of the compiler: work for a coalescer
};

// Cost: O(bytes). Never throws on any input. What it does not know becomes a named operation; what it cannot parse is
// an error with line and column. Calls, arguments and results follow `abi`.
[[nodiscard]] Parsed<Module> parse_ptx(std::string_view text, std::string_view file_name = "", AbiName abi = AbiName::Cuda,
                                       ParamCopies param_copies = ParamCopies::Folded);

}  // namespace regduel::ir
