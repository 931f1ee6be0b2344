// The result of a run, and what its spill code costs.
#pragma once

#include <compare>
#include <cstdint>
#include <expected>

#include "allocator/phases/progress.h"
#include "ir/allocator.h"

namespace regduel::allocator {

// The cost of spill code, times the weights of FORMAT.md, as a judge counts it. Ordered by bytes first. Copies count, since room for
// values that are not spilled is made by copies too. Pack operations do not count: the byte a predicate that they save is worth more.
struct SpillCost {
  std::int64_t bytes = 0, instructions = 0;  // bytes stored and refilled; remats and copies

  [[nodiscard]] static SpillCost of(const ir::Function& allocated);
  [[nodiscard]] std::int64_t sum() const;
  friend auto operator<=>(const SpillCost&, const SpillCost&) = default;
};

struct Result {
  std::expected<ir::Allocation, ir::AllocFailure> allocation;
  SpillCost cost = {};  // of an allocation with spill code
  int registers = 0;    // the limit of file R under which it was made, if that is a lower one; else 0
};

// Emits the planned program of `progress` with these homes.
[[nodiscard]] Result emit_result(Progress& progress, const Placed& placed, bool is_fallback = false);
// The same of a program with spill code, whose cost is counted.
[[nodiscard]] Result emit_spilled(Progress& progress, const Placed& placed, bool is_fallback = false);

//   inst   the instruction that cannot be packed; invalid if no single instruction is at fault
[[nodiscard]] Result impossible_result(const Run& run, ir::RegFile file, ir::InstId inst = {});

}  // namespace regduel::allocator
