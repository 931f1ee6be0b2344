// See occupancy.h.

#include "allocator/assign/occupancy.h"

#include <algorithm>

namespace regduel::allocator {

Occupancy::Occupancy(std::uint32_t num_insts, int units)
    : words_((static_cast<std::size_t>(units) + 63) / 64), rows_(2 * static_cast<std::size_t>(num_insts) * words_, 0) {
  const std::size_t stretches = (2 * static_cast<std::size_t>(num_insts) + kStretch - 1) / kStretch;
  full_.assign(stretches * words_, 0);
  any_.assign(stretches * words_, 0);
}

void Occupancy::add_clobber(std::uint32_t inst, const UnitSet& units) { clobbers_.push_back({clobber_point(inst), units}); }

void Occupancy::block_reads(std::uint32_t inst, const UnitSet& units) {
  const std::size_t row = 2 * static_cast<std::size_t>(inst);
  has_blocked_reads_ = true;
  for (std::size_t w = 0; w < words_; ++w) {
    rows_[row * words_ + w] |= units.words[w];
    any_[row / kStretch * words_ + w] |= units.words[w];
  }
}

// Cuts a range into whole stretches, whole(stretch), and rows [begin, end) of one stretch, rows(stretch, begin, end).
template <class Whole, class Rows>
void Occupancy::for_each_piece(std::span<const Interval> range, Whole whole, Rows rows) const {
  for (const Interval& i : range) {
    const std::size_t end = end_row(i);
    for (std::size_t r = first_row(i); r < end;) {
      const std::size_t stretch = r / kStretch, next = (stretch + 1) * kStretch;
      if (r % kStretch == 0 && next <= end) whole(stretch);
      else rows(stretch, r, std::min(next, end));
      r = next;
    }
  }
}

void Occupancy::mark(std::span<const Interval> range, int lo, int hi) {
  UnitSet::for_each_word(lo, hi, [&](std::size_t w, std::uint64_t mask) {
    for_each_piece(
        range,
        [&](std::size_t s) {
          full_[s * words_ + w] |= mask;
          any_[s * words_ + w] |= mask;
        },
        [&](std::size_t s, std::size_t begin, std::size_t end) {
          any_[s * words_ + w] |= mask;
          for (std::size_t r = begin; r < end; ++r) rows_[r * words_ + w] |= mask;
        });
  });
}

void Occupancy::unmark(std::span<const Interval> range, int lo, int hi) {
  UnitSet::for_each_word(lo, hi, [&](std::size_t w, std::uint64_t mask) {
    const auto sum_up = [&](std::size_t s) {
      std::uint64_t any = full_[s * words_ + w];
      for (std::size_t r = s * kStretch; r < std::min((s + 1) * kStretch, rows_.size() / words_); ++r) any |= rows_[r * words_ + w];
      any_[s * words_ + w] = any;
    };
    for_each_piece(
        range,
        [&](std::size_t s) {
          full_[s * words_ + w] &= ~mask;
          sum_up(s);
        },
        [&](std::size_t s, std::size_t begin, std::size_t end) {
          for (std::size_t r = begin; r < end; ++r) rows_[r * words_ + w] &= ~mask;
          sum_up(s);
        });
  });
}

UnitSet Occupancy::conflicts(std::span<const Interval> range) const {
  UnitSet taken = clobbers(range);
  for_each_piece(
      range,
      [&](std::size_t s) {
        for (std::size_t w = 0; w < words_; ++w) taken.words[w] |= any_[s * words_ + w];
      },
      [&](std::size_t s, std::size_t begin, std::size_t end) {
        for (std::size_t w = 0; w < words_; ++w) taken.words[w] |= full_[s * words_ + w];
        if (words_ == 1) {
          for (std::size_t r = begin; r < end; ++r) taken.words[0] |= rows_[r];
        } else {
          for (std::size_t r = begin; r < end; ++r)
            for (std::size_t w = 0; w < words_; ++w) taken.words[w] |= rows_[r * words_ + w];
        }
      });
  return taken;
}

UnitSet Occupancy::clobbers(std::span<const Interval> range) const {
  UnitSet taken;
  if (clobbers_.empty()) return taken;
  auto c = clobbers_.begin();
  for (const Interval& i : range) {
    c = std::lower_bound(c, clobbers_.end(), i.begin, [](const Clobber& a, Point p) { return a.point < p; });
    for (; c != clobbers_.end() && c->point < i.end; ++c) taken |= c->units;
    if (c == clobbers_.end()) break;
  }
  return taken;
}

}  // namespace regduel::allocator
