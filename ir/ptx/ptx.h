// PTX in: each .entry and each .func with a body becomes one Function. FORMAT.md, "PTX", says what becomes of what.
#pragma once

#include <string_view>

#include "base/source_error.h"
#include "ir/program.h"

namespace regduel::ir {

// Cost: O(bytes). Never throws on any input. What it does not know becomes a named operation; what it cannot parse is
// an error with line and column. Calls, arguments and results follow `abi`.
[[nodiscard]] Parsed<Module> parse_ptx(std::string_view text, std::string_view file_name = "", AbiName abi = AbiName::Cuda);

}  // namespace regduel::ir
