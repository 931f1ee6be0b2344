// The measures of an allocation, in one table: the columns of the database of results, and what `regduel compare` compares.
// Less is better in all of them but those that say otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "duel/duel.h"

namespace regduel::results {

struct Measure {
  std::string_view name;  // of the column too
  std::string_view what;  // with its unit
  double offset;          // of ratios (statistics.h); 0 where the figure is never 0
  bool is_compared;       // false: it says what the program is like, or depends on the machine
  // Nothing where it is beyond counting (oracles::Measures).
  std::optional<std::int64_t> (*of)(const duel::Bout& bout);
};

// In the order of the columns.
[[nodiscard]] std::span<const Measure> measures();
// What an allocator says that shows no allocation.
[[nodiscard]] bool is_said_without_allocation(const Measure& measure);
// Null for any other name.
[[nodiscard]] const Measure* find_measure(std::string_view name);
// Behind other columns of a statement: ", t.registers, t.predicates, ..." with "t." before each.
[[nodiscard]] std::string columns_of_measures(std::string_view before = "", std::string_view behind = "");

}  // namespace regduel::results
