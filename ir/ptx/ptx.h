// The reader of PTX. Each .entry and each .func with a body becomes one Function. FORMAT.md, "PTX", defines the translation.
#pragma once

#include <string_view>

#include "base/source_error.h"
#include "ir/abi.h"
#include "ir/program.h"

namespace regduel::ir {

// Cost: O(bytes). Never throws on any input. An unknown opcode becomes a named operation; a syntax error is returned with
// line and column. Calls, arguments and results follow `abi`.
[[nodiscard]] Parsed<Module> parse_ptx(std::string_view text, std::string_view file_name = "", AbiName abi = AbiName::Cuda,
                                       ParamCopies param_copies = ParamCopies::Folded);

}  // namespace regduel::ir
