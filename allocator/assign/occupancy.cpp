// See occupancy.h.

#include "allocator/assign/occupancy.h"

#include <algorithm>

namespace regduel::allocator {

Occupancy::Occupancy(std::uint32_t num_insts) : num_stretches_((2 * std::size_t{num_insts} + kStretch - 1) / kStretch) {}

Occupancy::Occupancy(const Occupancy& other)
    : num_stretches_(other.num_stretches_), stretches_(other.stretches_), clobbers_of_other_(&other.clobbers()),
      has_blocked_moments_(other.has_blocked_moments_) {
  rows_.reserve(std::max<std::size_t>(other.rows_.size(), 1) + num_stretches_);
  rows_ = other.rows_;
}

std::span<Occupancy::Stretch> Occupancy::stretches_of(std::size_t w) {
  if (rows_.empty()) rows_.resize(1);
  if (stretches_.size() < (w + 1) * num_stretches_) stretches_.resize((w + 1) * num_stretches_);
  return std::span(stretches_).subspan(w * num_stretches_, num_stretches_);
}

Occupancy::Rows& Occupancy::rows_of(Stretch& s) {
  if (s.rows == 0) {
    s.rows = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back({});
  }
  return rows_[s.rows];
}

void Occupancy::add_clobber(std::uint32_t inst, const UnitSet& units) {
  own_clobbers_.points.add(clobber_point(inst));
  own_clobbers_.units.push_back(units);
}

void Occupancy::block(std::size_t row, const UnitSet& units) {
  has_blocked_moments_ = true;
  for (std::size_t w = 0; w < UnitSet::kWords; ++w) {
    if (units.words[w] == 0) continue;
    Stretch& s = stretches_of(w)[row / kStretch];
    s.any |= units.words[w];
    rows_of(s)[row % kStretch] |= units.words[w];
  }
}

// Cuts a range into whole stretches, whole(stretch), and rows [begin, end) of one stretch, part(stretch, begin, end).
template <class Whole, class Part>
void Occupancy::for_each_piece(std::span<const Interval> range, Whole whole, Part part) {
  for (const Interval& i : range) {
    const std::size_t end = end_row(i);
    for (std::size_t r = first_row(i); r < end;) {
      const std::size_t stretch = r / kStretch, next = (stretch + 1) * kStretch;
      if (r % kStretch == 0 && next <= end) whole(stretch);
      else part(stretch, r % kStretch, std::min(next, end) - stretch * kStretch);
      r = next;
    }
  }
}

void Occupancy::mark(std::span<const Interval> range, int lo, int hi) {
  UnitSet::for_each_word(lo, hi, [&](std::size_t w, std::uint64_t mask) {
    const std::span<Stretch> stretches = stretches_of(w);
    for_each_piece(
        range,
        [&](std::size_t k) {
          stretches[k].full |= mask;
          stretches[k].any |= mask;
        },
        [&](std::size_t k, std::size_t begin, std::size_t end) {
          stretches[k].any |= mask;
          Rows& rows = rows_of(stretches[k]);
          for (std::size_t r = begin; r < end; ++r) rows[r] |= mask;
        });
  });
}

void Occupancy::unmark(std::span<const Interval> range, int lo, int hi) {
  UnitSet::for_each_word(lo, hi, [&](std::size_t w, std::uint64_t mask) {
    const std::span<Stretch> stretches = stretches_of(w);
    const auto sum_up = [&](Stretch& s) {
      s.any = s.full;
      for (const std::uint64_t row : rows_[s.rows]) s.any |= row;
    };
    for_each_piece(
        range,
        [&](std::size_t k) {
          stretches[k].full &= ~mask;
          sum_up(stretches[k]);
        },
        [&](std::size_t k, std::size_t begin, std::size_t end) {
          Rows& rows = rows_of(stretches[k]);
          for (std::size_t r = begin; r < end; ++r) rows[r] &= ~mask;
          sum_up(stretches[k]);
        });
  });
}

UnitSet Occupancy::conflicts(std::span<const Interval> range) const {
  UnitSet taken = clobbers(range);
  std::size_t w = 0;
  for (const Stretch* stretches = stretches_.data(); stretches != stretches_.data() + stretches_.size();
       stretches += num_stretches_, ++w) {
    std::uint64_t word = 0;
    for_each_piece(
        range, [&](std::size_t k) { word |= stretches[k].any; },
        [&](std::size_t k, std::size_t begin, std::size_t end) {
          const Stretch& s = stretches[k];
          if ((s.any & ~word) == 0) return;
          word |= s.full;
          const Rows& rows = rows_[s.rows];
          for (std::size_t r = begin; r < end; ++r) word |= rows[r];
        });
    taken.words[w] |= word;
  }
  return taken;
}

UnitSet Occupancy::clobbers(std::span<const Interval> range) const {
  UnitSet taken;
  const auto& [points, units] = clobbers();
  if (points.empty() || range.empty()) return taken;
  std::size_t c = points.count_before(range.front().begin);
  if (c == points.size() || points[c] >= range.back().end) return taken;
  for (const Interval& i : range) {
    while (c < points.size() && points[c] < i.begin) ++c;
    for (; c < points.size() && points[c] < i.end; ++c) taken |= units[c];
  }
  return taken;
}

}  // namespace regduel::allocator
