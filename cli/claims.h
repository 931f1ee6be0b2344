// Figures that somebody claims of an allocation, as text: `registers=24,spill_store_bytes=96`. Tested by claims_test.cpp.
//
// Keys are registers, predicates, uniform_registers, uniform_predicates, barriers, uniform_barriers, accumulators (highest unit in
// use + 1), spill_store_bytes and spill_load_bytes. A program after allocation may have its claims on lines of their own, in front of
// a function or in its body:
//
//   // claim registers=24,spill_store_bytes=96
//   func @f ...
//
// Lines right in front of a `func` line belong to that function, all others to the function in which they stand. All claims of a
// function hold together: two figures under one key are bad input.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_error.h"
#include "ir/allocator.h"
#include "oracles/quality/quality.h"

namespace regduel::cli {

struct Claim {
  std::string key;
  std::int64_t value = 0;
  std::string place;  // where it was made, for messages: "f.rir:1:10", or an option
};

// Adds the claims of a list that was given in one place. The error is one line.
[[nodiscard]] std::expected<void, std::string> add_claims(std::vector<Claim>& claims, std::string_view list,
                                                          std::string_view place);

// The claimed figures; a figure that is not claimed is the measured one.
[[nodiscard]] ir::Claims figures_of(const std::vector<Claim>& claims, const oracles::Measures& measures);

// The claim lines of a file, by the position of the function in it.
[[nodiscard]] Parsed<std::vector<std::vector<Claim>>> claim_lines(std::string_view text, std::string_view file);

}  // namespace regduel::cli
