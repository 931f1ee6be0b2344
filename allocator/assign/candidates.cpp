// See candidates.h.

#include "allocator/assign/candidates.h"

#include "base/planted.h"

namespace regduel::allocator {

std::optional<int> Candidates::home_of(std::span<const ir::VRegId> chain) const {
  for (const ir::VRegId v : chain)
    if (const auto home = home_of(v)) return home;
  return std::nullopt;
}

bool may_take(int home, const Geometry& geometry, const UnitSet& conflicts, const UnitSet& not_allocatable, int limit) {
  if (home % geometry.step() != 0 && !REGDUEL_PLANTED("fatpoint-candidate-unaligned")) return false;
  const int end = home + geometry.units;
  if (end > limit || not_allocatable.has_any(home, end)) return false;
  if (REGDUEL_PLANTED("fatpoint-candidate-unchecked")) return true;
  return !conflicts.has_any(home, REGDUEL_PLANTED("fatpoint-candidate-first-unit-checked") ? home + 1 : end);
}

}  // namespace regduel::allocator
