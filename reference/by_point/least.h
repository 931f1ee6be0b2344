// The least that spilling costs where a value may be in a register at one point and in memory at another, proved.
//
//   from below   the cheapest set of elements (model.h), by the linear relaxation and then by cores (exact/cheapest_set.h). Where what
//                is in registers at a point does not fit (tenants.h), one of those elements is demanded besides, and the search goes on
//   from above   the allocation that the set stands for (writer.h)
//
// Of programs with more than `most_values` values only the relaxation is solved, which is a bound all the same. Source: Appel, George,
// Optimal spilling for CISC machines with few registers, 2001. Tested by by_point_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/by_point/writer.h"

namespace regduel::reference {

struct ByPointEffort {
  std::int64_t conflicts = 20'000;  // of one question to the solver
  int questions = 200;              // for one set
  int most_values = 200;
};

struct LeastByPoint {
  std::int64_t at_least = 0;
  std::int64_t at_most = -1;  // what the allocation costs; -1 = there is none
  bool is_relaxed = false;    // the solver was not asked
  std::size_t values = 0, elements = 0, demands = 0, misfits = 0;
  std::optional<ir::Allocation> allocation;
  std::string_view why_none;  // why there is no allocation

  [[nodiscard]] bool is_proved() const { return at_least == at_most; }
};

// Requires that no instruction is impossible.
[[nodiscard]] LeastByPoint least_by_point(const Problem& problem, const ByPointEffort& effort, ir::Fuel* fuel);

}  // namespace regduel::reference
