// The occupancy bitvector: which units of one file are taken at which moment. Its bits are the hard conflicts.
//
// Source 000 keeps one vector of slots "already committed", which would forbid all reuse. Here each instruction has two rows of
// bits, one for its R moment and one for its W moment (liveness.h); clobbers have a row of their own. A vreg conflicts with the OR
// of the rows that its live range covers, tested on its whole footprint (DECISIONS). No interference graph is ever built: marking
// and asking cost (instructions in the range) x (words a row), which sums to instructions x pressure. Stretches summarise rows, so
// that long ranges cost a fraction of that; rows get memory when a unit is marked in them.
//
// Tested by occupancy_test.cpp (word-wise marking against bit by bit).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "ir/registers.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

using ir::UnitSet;

class Occupancy {
 public:
  explicit Occupancy(std::uint32_t num_insts);
  // A copy reserves memory for the rows that it is likely to mark. The copy refers to the clobbers of the other, which must outlive it.
  Occupancy(const Occupancy& other);
  Occupancy(Occupancy&&) = default;

  // Requires ascending instructions.
  void add_clobber(std::uint32_t inst, const UnitSet& units);
  // Mark units as taken at the R or the W moment of one instruction, for no vreg.
  void block_reads(std::uint32_t inst, const UnitSet& units) { block(2 * std::size_t{inst}, units); }
  void block_writes(std::uint32_t inst, const UnitSet& units) { block(2 * std::size_t{inst} + 1, units); }

  // Requires that the units are free over the whole range.
  void mark(std::span<const Interval> range, int lo, int hi);
  void unmark(std::span<const Interval> range, int lo, int hi);
  [[nodiscard]] UnitSet conflicts(std::span<const Interval> range) const;
  [[nodiscard]] bool has_clobbers() const { return !clobbers().points.empty(); }
  [[nodiscard]] bool has_blocked_moments() const { return has_blocked_moments_; }
  // The units of clobbers among them.
  [[nodiscard]] UnitSet clobbers(std::span<const Interval> range) const;

 private:
  void block(std::size_t row, const UnitSet& units);

  // Rows come in stretches, and units in words. Of one word in one stretch, `full` has the units that are held for the whole
  // stretch (their rows are not written), `any` the union of all its rows: so a long range costs one word a stretch.
  static constexpr std::size_t kStretch = 64;
  using Rows = std::array<std::uint64_t, kStretch>;
  struct Stretch {
    std::uint64_t full = 0, any = 0;
    std::uint32_t rows = 0;  // index into rows_
  };

  struct Clobbers {
    PointIndex points;
    std::vector<UnitSet> units;  // by point
  };
  [[nodiscard]] const Clobbers& clobbers() const { return clobbers_of_other_ != nullptr ? *clobbers_of_other_ : own_clobbers_; }

  // The stretches of word w; made when it is first needed.
  [[nodiscard]] std::span<Stretch> stretches_of(std::size_t w);
  [[nodiscard]] Rows& rows_of(Stretch& s);
  template <class Whole, class Part>
  static void for_each_piece(std::span<const Interval> range, Whole whole, Part part);

  std::size_t num_stretches_;
  std::vector<Stretch> stretches_;  // word by word, as far as units were marked
  std::vector<Rows> rows_;  // those that are written; rows_[0] is zero and belongs to no stretch; empty before the first mark
  Clobbers own_clobbers_;
  const Clobbers* clobbers_of_other_ = nullptr;  // of the one that this is a copy of
  bool has_blocked_moments_ = false;
};

}  // namespace regduel::allocator
