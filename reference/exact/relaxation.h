// The linear relaxation of the question for the cheapest set (cheapest_set.h), solved by decomposition (Dantzig, Wolfe 1960).
//
// Elements that extra costs or implications connect form a component. Without the demands each component is a minimum cut, because
// each cost is one of an element, or of an element that is taken where another one is not. So
//
//   master     a convex combination of sets of each component that meets all demands: a linear program with a row a demand and a row
//              a component, by the revised simplex method
//   pricing    the cheapest set of a component where each unit of a demand that it meets is paid for: a minimum cut (Dinic 1970)
//
// With any worth y >= 0 of a unit of each demand
//
//   sum of y units + sum over components of their minimum cut where a unit of demand d earns y(d)
//
// is a lower bound, and the flow on each arc is what its cost is worth. The flows are whole numbers, so the bound that they make
// holds however inexact the simplex method was. Tested by cheapest_set_test.cpp, against all sets.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace regduel::reference {

struct SetQuestion {
  struct Portion {
    std::uint32_t element = 0;
    int units = 1;  // positive
  };
  struct Demand {
    std::vector<Portion> portions;
    int units = 0;
  };
  static constexpr std::int64_t kForbidden = std::numeric_limits<std::int64_t>::max();
  struct Extra {
    std::uint32_t taken = 0, unless = 0;
    std::int64_t cost = 0;  // kForbidden: the one is not taken without the other

    [[nodiscard]] bool is_forbidden() const { return cost == kForbidden; }
  };
  std::vector<std::int64_t> costs;  // by element
  std::vector<Demand> demands;
  std::vector<Extra> extras;
};

struct Relaxation {
  std::int64_t scale = 1;                     // of what follows
  std::vector<std::int64_t> demands, extras;  // the worth of a unit of each, at least 0
  std::int64_t at_least = 0;                  // rounded up; not scaled
  // A set that meets all demands: the cheapest one where the relaxation has a solution in whole numbers. Empty where there is none.
  std::vector<bool> is_taken;
};

// Cost: about `most_work` operations; what was found by then is a bound all the same. So it is where there are more than kMostRows rows:
// the demands that want most are looked at.
constexpr std::size_t kMostRows = 1'500;
[[nodiscard]] Relaxation solve_relaxation(const SetQuestion& question, double most_work);

// What a set costs; whether it meets all demands and implications.
[[nodiscard]] std::int64_t cost_of(const SetQuestion& question, const std::vector<bool>& is_taken);
[[nodiscard]] bool is_met(const SetQuestion& question, const std::vector<bool>& is_taken);

}  // namespace regduel::reference
