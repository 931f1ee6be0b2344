// See scan.h.

#include "allocator/assign/scan.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/planted.h"

namespace regduel::allocator {
namespace {

// The lowest multiple of `step`, a power of two, from `unit` on.
int aligned(int unit, int step) { return (unit + step - 1) & -step; }

template <class Visit>
void for_each_free(const ScanRequest& q, Visit visit) {
  for (int unit = aligned(q.start, q.geometry.step()); unit + q.geometry.units <= q.ceiling; unit += q.geometry.step())
    if (!q.forbidden.has_any(unit, unit + q.geometry.units) && !visit(unit)) return;
}

}  // namespace

// Word by word.
int lowest_free(const UnitSet& forbidden, const Geometry& geometry, int ceiling, int start) {
  const int step = geometry.step(), units = geometry.units;
  int unit = aligned(start, step);
  while (unit + units <= ceiling) {
    const std::uint64_t free = ~forbidden.words[unit / 64] >> (unit % 64);
    if (free == 0) {
      unit = (unit / 64 + 1) * 64;
    } else {
      unit += std::countr_zero(free);
      if ((unit & (step - 1)) == 0 && unit + units <= ceiling && !forbidden.has_any(unit, unit + units)) return unit;
      unit += 1;
    }
    unit = aligned(unit, step);
  }
  return -1;
}

bool has_free(const UnitSet& forbidden, const Geometry& geometry, int ceiling) {
  return lowest_free(forbidden, geometry, ceiling, 0) >= 0;
}

namespace {

// If only affinities weigh: the wanted unit with the least weight, the lowest among equals; else the lowest of all.
int select_by_affinity(const ScanRequest& q) {
  int best = -1;
  for (const int unit : q.arrays.wanted()) {
    bool is_aligned = unit % q.geometry.step() == 0;
    if (REGDUEL_PLANTED("fatpoint-wanted-slot-unaligned")) is_aligned = true;
    if (!is_aligned || unit < q.start || unit + q.geometry.units > q.ceiling) continue;
    if (q.forbidden.has_any(unit, unit + q.geometry.units)) continue;
    const std::int32_t s = q.arrays.secondary(unit), s_best = best < 0 ? 0 : q.arrays.secondary(best);
    if (best < 0 || s < s_best || (s == s_best && unit < best)) best = unit;
  }
  return best >= 0 ? best : lowest_free(q.forbidden, q.geometry, q.ceiling, q.start);
}

}  // namespace

int select_position(const ScanRequest& q) {
  if (!q.arrays.has_primary()) return select_by_affinity(q);
  int best = -1;
  std::int32_t best_primary = std::numeric_limits<std::int32_t>::max(), best_secondary = best_primary;
  for_each_free(q, [&](int unit) {
    const std::int32_t p = q.arrays.primary(unit);
    const std::int32_t s = q.arrays.secondary(unit);
    if (p > best_primary || (p == best_primary && s >= best_secondary)) return true;
    best = unit;
    best_primary = p;
    best_secondary = s;
    return p != 0 || s != 0;
  });
  return best;
}

}  // namespace regduel::allocator
