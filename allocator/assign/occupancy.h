// The occupancy bitvector: which units of one file are taken at which moment. This is where hard conflicts live, as bits.
//
// Seed 000 keeps one vector of slots "already committed", which would forbid all reuse. Here each instruction has two rows of
// bits, one for its R moment and one for its W moment (liveness.h); clobbers have a row of their own. A vreg conflicts with the OR
// of the rows that its live range covers, tested on its whole footprint (DECISIONS). No interference graph is ever built: marking
// and asking cost (instructions in the range) x (words a row), which sums to instructions x pressure. The rows are summed up in
// stretches, so that long ranges cost a fraction of that.
//
// Tested by occupancy_test.cpp (word-wise marking against bit by bit).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "allocator/unit_set.h"
#include "ir/registers.h"

namespace regduel::allocator {

// Row 2i is the R moment of instruction i, row 2i + 1 its W moment. An interval covers the rows [first_row, end_row).
[[nodiscard]] constexpr std::uint32_t first_row(const Interval& i) { return (i.begin + 1) / 2; }
[[nodiscard]] constexpr std::uint32_t end_row(const Interval& i) { return (i.end + 1) / 2; }

class Occupancy {
 public:
  //   units   units [0, units) can be marked; at most kMaxUnits
  Occupancy(std::uint32_t num_insts, int units);

  // Requires ascending instructions.
  void add_clobber(std::uint32_t inst, const UnitSet& units);
  // Marks units as taken at the R moment of one instruction, for no vreg.
  void block_reads(std::uint32_t inst, const UnitSet& units);

  // Requires that the units are free over the whole range.
  void mark(std::span<const Interval> range, int lo, int hi);
  void unmark(std::span<const Interval> range, int lo, int hi);
  [[nodiscard]] UnitSet conflicts(std::span<const Interval> range) const;
  [[nodiscard]] bool has_clobbers() const { return !clobbers_.empty(); }
  [[nodiscard]] bool has_blocked_reads() const { return has_blocked_reads_; }
  // The clobbers among them.
  [[nodiscard]] UnitSet clobbers(std::span<const Interval> range) const;

 private:
  // Rows come in stretches. `full_` has the units that are held for a whole stretch (their rows are not written), `any_` the
  // union of a stretch: so a long range costs one word a stretch.
  static constexpr std::size_t kStretch = 64;
  template <class Whole, class Rows>
  void for_each_piece(std::span<const Interval> range, Whole whole, Rows rows) const;

  struct Clobber {
    Point point;
    UnitSet units;
  };
  std::size_t words_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> full_, any_;
  std::vector<Clobber> clobbers_;
  bool has_blocked_reads_ = false;
};

}  // namespace regduel::allocator
