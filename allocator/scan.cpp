// See scan.h.

#include "allocator/scan.h"

#include <limits>

namespace regduel::allocator {
namespace {

template <class Visit>
void for_each_free_slot(const ScanRequest& q, Visit visit) {
  for (int slot = 0; slot + q.geometry.units <= q.ceiling; slot += q.geometry.step())
    if (!q.forbidden.has_any(slot, slot + q.geometry.units) && !visit(slot)) return;
}

}  // namespace

int select_fatpoint(const ScanRequest& q) {
  bool first_pass = q.first_pass;
  if (first_pass)
    for_each_free_slot(q, [&](int slot) {
      first_pass = q.arrays.primary[static_cast<std::size_t>(slot)] <= q.threshold;
      return first_pass;
    });
  int best = -1;
  std::int32_t best_primary = std::numeric_limits<std::int32_t>::max(), best_secondary = best_primary;
  for_each_free_slot(q, [&](int slot) {
    const std::int32_t p = q.arrays.primary[static_cast<std::size_t>(slot)];
    const std::int32_t s = q.arrays.secondary[static_cast<std::size_t>(slot)];
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
  int best = -1, best_congested = -1;
  std::int32_t p_best = 0, s_best = 0, p_congested = 0, s_congested = 0;
  for_each_free_slot(q, [&](int slot) {
    const std::int32_t p = q.arrays.primary[static_cast<std::size_t>(slot)];
    const std::int32_t s = q.arrays.secondary[static_cast<std::size_t>(slot)];
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
