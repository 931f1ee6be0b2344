// See scan.h.

#include "allocator/assign/scan.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/planted.h"

namespace regduel::allocator {
namespace {

int first_slot(const ScanRequest& q) { return (q.start + q.geometry.step() - 1) / q.geometry.step() * q.geometry.step(); }

template <class Visit>
void for_each_free_slot(const ScanRequest& q, Visit visit) {
  for (int slot = first_slot(q); slot + q.geometry.units <= q.ceiling; slot += q.geometry.step())
    if (!q.forbidden.has_any(slot, slot + q.geometry.units) && !visit(slot)) return;
}

// The lowest free slot, -1 where there is none: word by word.
int first_free(const ScanRequest& q) {
  const int step = q.geometry.step(), units = q.geometry.units;
  int slot = first_slot(q);
  while (slot + units <= q.ceiling) {
    const std::uint64_t free = ~q.forbidden.words[slot / 64] >> (slot % 64);
    if (free == 0) {
      slot = (slot / 64 + 1) * 64;
    } else {
      slot += std::countr_zero(free);
      if (slot % step == 0 && slot + units <= q.ceiling && !q.forbidden.has_any(slot, slot + units)) return slot;
      slot += 1;
    }
    slot = (slot + step - 1) / step * step;
  }
  return -1;
}

// Where only affinities weigh: the wanted slot with the least weight, the lowest among equals; else the lowest of all.
int select_by_affinity(const ScanRequest& q) {
  int best = -1;
  for (const int slot : q.arrays.wanted()) {
    if ((slot % q.geometry.step() != 0 && !REGDUEL_PLANTED("fatpoint-wanted-slot-unaligned")) || slot < q.start ||
        slot + q.geometry.units > q.ceiling ||
        q.forbidden.has_any(slot, slot + (REGDUEL_PLANTED("fatpoint-wanted-slot-first-unit-checked") ? 1 : q.geometry.units)))
      continue;
    const std::int32_t s = q.arrays.secondary(slot), s_best = best < 0 ? 0 : q.arrays.secondary(best);
    if (best < 0 || s < s_best || (s == s_best && slot < best)) best = slot;
  }
  return best >= 0 ? best : first_free(q);
}

}  // namespace

UnitSet units_around(int previous, PairMode mode) {
  const int size = mode == PairMode::Half ? 8 : 4;
  const int first = previous & -size;
  UnitSet units;
  units.set_range(first, std::min(first + size, ir::kMaxUnits));
  return units;
}

int select_fatpoint(const ScanRequest& q) {
  if (!q.arrays.has_primary()) return select_by_affinity(q);
  bool first_pass = q.first_pass;
  if (first_pass)
    for_each_free_slot(q, [&](int slot) {
      first_pass = q.arrays.primary(slot) <= q.threshold;
      return first_pass;
    });
  int best = -1;
  std::int32_t best_primary = std::numeric_limits<std::int32_t>::max(), best_secondary = best_primary;
  for_each_free_slot(q, [&](int slot) {
    const std::int32_t p = q.arrays.primary(slot);
    const std::int32_t s = q.arrays.secondary(slot);
    const bool better = first_pass ? s < best_secondary : p < best_primary || (p == best_primary && s < best_secondary);
    if (!better) return true;
    best = slot;
    best_primary = p;
    best_secondary = s;
    return s != 0 || (p != 0 && !first_pass);
  });
  return best;
}

int select_simple(const ScanRequest& q) {
  if (!q.arrays.has_primary()) return select_by_affinity(q);
  int best = -1, best_congested = -1;
  std::int32_t p_best = 0, s_best = 0, p_congested = 0, s_congested = 0;
  for_each_free_slot(q, [&](int slot) {
    const std::int32_t p = q.arrays.primary(slot);
    const std::int32_t s = q.arrays.secondary(slot);
    const bool congested = p > q.threshold;
    int& b = congested ? best_congested : best;
    std::int32_t& bp = congested ? p_congested : p_best;
    std::int32_t& bs = congested ? s_congested : s_best;
    if (b < 0 || p < bp || (p == bp && s < bs)) {
      b = slot;
      bp = p;
      bs = s;
    }
    return true;
  });
  return best >= 0 ? best : best_congested;
}

}  // namespace regduel::allocator
