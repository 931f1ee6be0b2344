// See select.h.

#include "allocator/classic/select.h"

#include <bit>
#include <limits>

#include "base/planted.h"

namespace regduel::allocator {
namespace {

using ir::UnitSet;

UnitSet free_positions(const Scan& s) {
  UnitSet free = UnitSet::range(s.start, s.ceiling) - s.pressure.occupied;
  int units = s.geometry.units;
  if (REGDUEL_PLANTED("classic-first-unit-of-a-tuple-tested")) units = 1;
  return free.positions(units, std::countr_zero(static_cast<unsigned>(s.geometry.align)));
}

FatPoint at(const Scan& s, int unit) {
  const auto k = static_cast<std::size_t>(unit);
  return {unit, s.pressure.primary[k], s.pressure.secondary[k]};
}

constexpr FatPoint kNone{-1, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::max()};

FatPoint found(const FatPoint& best) { return best.unit < 0 ? FatPoint() : best; }

// Positions outside the group of the last one; all, if there is none.
UnitSet outside_group(const UnitSet& free, const Geometry& geometry, int last) {
  const int group = geometry.pair_mode == PairMode::Half ? 8 : 4;
  UnitSet others = free;
  others.clear_range(last / group * group, last / group * group + group);
  return others.any() ? others : free;
}

}  // namespace

FatPoint select_long(const Scan& s, bool first_pass, int last) {
  UnitSet free = free_positions(s);
  if (last >= 0) free = outside_group(free, s.geometry, last);
  if (first_pass)
    for (int unit = free.first(); unit >= 0 && first_pass; unit = free.next(unit + 1))
      first_pass = at(s, unit).primary <= s.threshold;
  FatPoint best = kNone;
  for (int unit = free.first(); unit >= 0; unit = free.next(unit + 1)) {
    const FatPoint p = at(s, unit);
    const bool is_better = first_pass ? p.secondary < best.secondary
                                      : p.primary < best.primary || (p.primary == best.primary && p.secondary < best.secondary);
    if (is_better) best = p;
    if (is_better && p.secondary == 0 && (p.primary == 0 || first_pass)) break;
  }
  return found(best);
}

FatPoint select_simple(const Scan& s) {
  const UnitSet free = free_positions(s);
  FatPoint best = kNone, congested = kNone;
  for (int unit = free.first(); unit >= 0; unit = free.next(unit + 1)) {
    const FatPoint p = at(s, unit);
    FatPoint& b = p.primary > s.threshold ? congested : best;
    if (p.primary < b.primary || (p.primary == b.primary && p.secondary < b.secondary)) b = p;
    if (p.primary == 0 && p.secondary == 0) break;
  }
  return found(best.unit >= 0 ? best : congested);
}

}  // namespace regduel::allocator
