// See geometry.h.

#include "allocator/assign/geometry.h"

#include "ir/program.h"

namespace regduel::allocator {

Geometry geometry_of(const ir::VReg& v, bool predicate_halves) {
  Geometry g;
  g.units = v.units();
  g.align = v.alignment();
  if (g.units > 1 && g.align > 1) g.pair_mode = PairMode::Tuple;
  else if (predicate_halves && ir::is_predicate(v.file())) g.pair_mode = PairMode::Half;
  return g;
}

}  // namespace regduel::allocator
