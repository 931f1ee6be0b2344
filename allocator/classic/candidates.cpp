// See candidates.h.

#include "allocator/classic/candidates.h"

#include <algorithm>

#include "base/planted.h"

namespace regduel::allocator {

std::optional<int> Candidates::home_of(std::span<const ir::VRegId> members) const {
  for (const ir::VRegId v : members)
    if (const auto home = home_of(v)) return home;
  return std::nullopt;
}

bool may_take(int home, const Geometry& geometry, const UnitSet& conflicts, const UnitSet& not_allocatable, int limit) {
  const int end = home + geometry.units;
  bool is_free = !conflicts.has_any(home, std::min(end, limit));
  if (REGDUEL_PLANTED("classic-candidate-unchecked")) is_free = true;
  return home % geometry.step() == 0 && end <= limit && !not_allocatable.has_any(home, end) && is_free;
}

}  // namespace regduel::allocator
