// The settled states of a case: the plan and the quick analysis, whose joins know nothing of guards. They are made once, by the first
// judge that asks, and kept with the case. Tested by symbolic_test.cpp and uniform_test.cpp.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "oracles/judge.h"
#include "oracles/symbolic/fixed_point.h"

namespace regduel::oracles::symbolic {

struct Settled {
  explicit Settled(Plan p) : plan(std::move(p)), quick(plan, 0), is_settled(quick.settle()) {}
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;

  Plan plan;
  FixedPoint quick;
  bool is_settled;  // else the states of `quick` mean nothing
};

// Nothing but the reason where the pair cannot be read side by side. Cost: as the symbolic judge, at the first call for the case.
[[nodiscard]] const std::expected<Settled*, std::string>& settled(const Case& c);

}  // namespace regduel::oracles::symbolic
