// The reader of PTX. Each .entry and each .func with a body becomes one Function. FORMAT.md, "PTX", defines the translation.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/source_error.h"
#include "ir/abi.h"
#include "ir/program.h"

namespace regduel::ir {

// Cost: O(bytes). Never throws on any input. An unknown opcode becomes a named operation; a syntax error is returned with
// line and column. Calls, arguments and results follow `abi`.
[[nodiscard]] Parsed<Module> parse_ptx(std::string_view text, std::string_view file_name = "", AbiName abi = AbiName::Cuda,
                                       ParamCopies param_copies = ParamCopies::Folded);

// The functions that are declared `.weak`: a linker may put another body in the place of theirs. Cost: O(bytes).
[[nodiscard]] std::set<std::string, std::less<>> weak_functions_of_ptx(std::string_view text);

}  // namespace regduel::ir
