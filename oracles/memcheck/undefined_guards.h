// The instructions of a program before whose guard is undefined whichever way they are reached.
//
//   D(p)     the predicates that may be defined at the point p; it starts empty, and architectural ones are defined at the entry
//   join     the union over the edges that lead there
//   d = op              d in D                       @g d = op              d in D, if g in D; else d leaves D
//   d = copy u, phi     d in D exactly if u is       @g d = copy u          if g in D: d in D if d or u is; else if both are
//
// D is the least solution, so what keeps itself defined in a loop and nothing else is undefined: in `@g g = copy u` with g never
// written before. A guard that is not in D is undefined on every path to it, and its instruction may leave its defs undefined.
// Internal to the judge. Tested by undefined_guards_test.cpp.
#pragma once

#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::oracles {

// Sorted; reachable instructions alone. Cost: O(instructions + blocks x predicates / 64), a few times over where there are loops.
[[nodiscard]] std::vector<ir::InstId> always_under_undefined_guards(const ir::Function& before, const ir::Cfg& cfg);

}  // namespace regduel::oracles
