// See value_graphs.h.

#include "reference/exact/value_graphs.h"

#include "base/planted.h"
#include "reference/program/dead_code.h"
#include "reference/program/liveness.h"
#include "reference/program/lower.h"

namespace regduel::reference {

ValueGraphs lower_by_value(const Problem& problem, const Plan& plan) {
  ValueGraphs g;
  g.code = lower(problem, plan);
  if (REGDUEL_PLANTED("exact-dead-copies-have-edges")) g.is_dead.assign(g.code.insts.size(), 0);
  else g.is_dead = drop_dead_code(problem, g.code);
  Liveness liveness(g.code);
  g.value = build_interference_graphs(problem, g.code, liveness, {}, Edges::Value);
  g.necessary = build_interference_graphs(problem, g.code, liveness, {}, Edges::Necessary);
  return g;
}

}  // namespace regduel::reference
