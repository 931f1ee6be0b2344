// Figures that somebody claims of an allocation, as text: `registers=24,spill_store_bytes=96`. Tested by claims_test.cpp.
//
// Keys are registers, predicates, uniform_registers, uniform_predicates, barriers, uniform_barriers, accumulators (highest unit in
// use + 1), spill_store_bytes and spill_load_bytes. A program after allocation may have its claims in front of its functions:
//
//   // claim registers=24,spill_store_bytes=96
//   func @f ...
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "base/source_error.h"
#include "ir/allocator.h"
#include "oracles/quality/quality.h"

namespace regduel::cli {

// The claims of a list; of what it does not name, the measures. The error is one line.
[[nodiscard]] std::expected<ir::Claims, std::string> read_claims(std::string_view list, const oracles::Measures& measures);

// The lists in the claim lines of a file, by the name of the function behind each. Several lines are one list.
[[nodiscard]] Parsed<std::map<std::string, std::string, std::less<>>> claim_lines(std::string_view text, std::string_view file);

}  // namespace regduel::cli
