// See arrangement.h.

#include "allocator/walk/arrangement.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "base/planted.h"

namespace regduel::allocator {

namespace {

// Costs of a unit that moves aside, from its preferred home and from another one.
constexpr int kAtHome = 3, kAstray = 2;

[[nodiscard]] UnitSet positions(const UnitSet& free, const Geometry& shape) {
  return free.positions(shape.units, std::countr_zero(static_cast<unsigned>(shape.align)));
}

}  // namespace

int tightest(const UnitSet& free, const Geometry& shape, const Room& room) {
  const UnitSet all = positions(free, shape);
  if (!room.has_tuples || shape.units > 2) return all.first();
  const UnitSet pairs = free.positions(2, 1), quads = free.positions(4, 2);
  UnitSet in_pairs, in_quads;
  for (std::size_t w = 0; w < UnitSet::kWords; ++w) {
    in_pairs.words[w] = pairs.words[w] | pairs.words[w] << 1;
    in_quads.words[w] = quads.words[w] * 15;
  }
  UnitSet low = all;
  low.clear_range(std::max(room.needed - shape.units + 1, 0), ir::kMaxUnits);
  if (low.none()) return all.first();
  const UnitSet single = low - in_pairs, outside = low - in_quads;
  if (shape.units == 2) return outside.any() ? outside.first() : low.first();
  if (single.any()) return single.first();
  return (outside.any() ? outside : low).end() - 1;
}

std::pair<int, int> Arrangement::order(std::size_t k) const {
  const Stand& s = stands[k];
  return {s.bound == kNowhere ? 1 : 0, -std::max(s.shape.units, s.shape.align)};
}

void Arrangement::clear_rows() {
  for (auto& row : rows_) row.fill(-1);
  taken_ = {};
  is_settled_.assign(stands.size(), 0);
}

void Arrangement::mark(std::size_t k, bool on) {
  const Stand& s = stands[k];
  for (std::size_t row = 0; row < 2; ++row) {
    if (!(row == 0 ? s.at_reads : s.at_writes)) continue;
    const auto begin = rows_[row].begin() + s.now;
    std::fill(begin, begin + s.shape.units, static_cast<std::int16_t>(on ? static_cast<int>(k) : -1));
    if (on) taken_[row].set_range(s.now, s.now + s.shape.units);
    else taken_[row].clear_range(s.now, s.now + s.shape.units);
  }
}

void Arrangement::put(std::size_t k, int unit) {
  stands[k].now = unit;
  is_settled_[k] = 1;
  mark(k, true);
}

UnitSet Arrangement::free_for(const Stand& s) const {
  UnitSet free = room_.usable - s.forbidden;
  if (s.at_reads && !REGDUEL_PLANTED("fatpoint-moves-onto-what-is-read")) free -= taken_[0];
  if (s.at_writes) free -= taken_[1];
  return free;
}

bool Arrangement::is_taken(const Stand& s, int unit) const {
  const int end = unit + s.shape.units;
  return (s.at_reads && taken_[0].has_any(unit, end)) || (s.at_writes && taken_[1].has_any(unit, end));
}

int Arrangement::home_in(const UnitSet& free, const Stand& s) const {
  if (s.preferred != kNowhere && free.has_all(s.preferred, s.preferred + s.shape.units)) return s.preferred;
  return tightest(free, s.shape, room_);
}

bool Arrangement::mend() {
  clear_rows();
  list_.clear();
  for (std::size_t k = 0; k < stands.size(); ++k) {
    Stand& s = stands[k];
    s.now = s.before;
    if (s.now != kNowhere && s.forbidden.has_any(s.now, s.now + s.shape.units)) s.now = kNowhere;
    if (s.now == kNowhere) list_.push_back(k);
    else mark(k, true);
  }
  std::stable_sort(list_.begin(), list_.end(), [&](std::size_t x, std::size_t y) { return order(x) < order(y); });
  const std::vector<std::size_t> homeless = list_;
  if (std::all_of(homeless.begin(), homeless.end(), [&](std::size_t k) { return make_room(k); })) return true;
  for (Stand& s : stands) s.now = s.before;
  return false;
}

bool Arrangement::make_room(std::size_t k) {
  const Stand& s = stands[k];
  if (s.bound == kNowhere)
    if (const int unit = home_in(free_for(s), s); unit >= 0) {
      put(k, unit);
      return true;
    }
  int best = kNowhere, least = std::numeric_limits<int>::max();
  const auto look_at = [&](int unit) {
    const int cost = cost_of_room(s, unit);
    if (cost < 0 || cost >= least || !move_aside(s, unit, false)) return;
    least = cost, best = unit;
  };
  if (s.bound != kNowhere) {
    look_at(s.bound);
  } else {
    UnitSet allowed = positions(room_.usable - s.forbidden, s.shape);
    for (int unit = allowed.first(); unit >= 0 && least > kAstray; unit = allowed.next(unit + 1)) look_at(unit);
  }
  if (best == kNowhere) return false;
  static_cast<void>(cost_of_room(s, best));
  move_aside(s, best, true);
  put(k, best);
  return true;
}

// The units of those that would have to leave [unit, unit + its units), which are listed in aside_; -1 if one may not.
int Arrangement::cost_of_room(const Stand& s, int unit) {
  aside_.clear();
  int cost = 0;
  for (std::size_t row = 0; row < 2; ++row) {
    if (!(row == 0 ? s.at_reads : s.at_writes)) continue;
    for (int u = unit; u < unit + s.shape.units; ++u) {
      const int there = rows_[row][static_cast<std::size_t>(u)];
      if (there < 0 || std::find(aside_.begin(), aside_.end(), static_cast<std::size_t>(there)) != aside_.end()) continue;
      const auto o = static_cast<std::size_t>(there);
      if (stands[o].bound != kNowhere || (is_settled_[o] != 0 && stands[o].shape.units >= s.shape.units)) return -1;
      aside_.push_back(o);
      cost += (stands[o].now == stands[o].preferred ? kAtHome : kAstray) * stands[o].shape.units;
    }
  }
  return cost;
}

// Finds other homes for those listed, outside of [unit, unit + its units). False if one finds none; without `stays` all are where they
// were afterwards.
bool Arrangement::move_aside(const Stand& s, int unit, bool stays) {
  std::sort(aside_.begin(), aside_.end(),
            [&](std::size_t x, std::size_t y) { return std::pair(order(x), x) < std::pair(order(y), y); });
  left_.clear();
  for (const std::size_t k : aside_) {
    left_.push_back(stands[k].now);
    mark(k, false);
  }
  std::size_t moved = 0;
  for (; moved < aside_.size(); ++moved) {
    Stand& o = stands[aside_[moved]];
    UnitSet free = free_for(o);
    free.clear_range(unit, unit + s.shape.units);
    const int to = home_in(free, o);
    if (to < 0) break;
    o.now = to;
    mark(aside_[moved], true);
  }
  const bool fits = moved == aside_.size();
  if (fits && stays) return true;
  for (std::size_t j = 0; j < moved; ++j) mark(aside_[j], false);
  for (std::size_t j = 0; j < aside_.size(); ++j) {
    stands[aside_[j]].now = left_[j];
    mark(aside_[j], true);
  }
  return fits;
}

bool Arrangement::place_anew() {
  clear_rows();
  list_.resize(stands.size());
  for (std::size_t k = 0; k < list_.size(); ++k) list_[k] = k, stands[k].now = kNowhere;
  const auto rank = [&](std::size_t k) {
    const Stand& s = stands[k];
    return std::tuple(order(k), s.forbidden.none(), !(s.at_reads && s.at_writes), s.before == kNowhere);
  };
  std::stable_sort(list_.begin(), list_.end(), [&](std::size_t x, std::size_t y) { return rank(x) < rank(y); });
  for (const std::size_t k : list_) {
    const Stand& s = stands[k];
    const UnitSet free = free_for(s);
    int unit = kNowhere;
    if (s.bound != kNowhere) unit = is_taken(s, s.bound) ? kNowhere : s.bound;
    else if (s.before != kNowhere && positions(free, s.shape).has(s.before)) unit = s.before;
    else unit = home_in(free, s);
    if (unit < 0) {
      for (Stand& t : stands) t.now = t.before;
      return false;
    }
    put(k, unit);
  }
  return true;
}

}  // namespace regduel::allocator
