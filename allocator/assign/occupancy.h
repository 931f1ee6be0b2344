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
#include "ir/registers.h"

namespace regduel::allocator {

// A set of units of one file, as wide as the rows of an Occupancy.
struct UnitSet {
  std::uint64_t words[ir::kMaxUnits / 64] = {};

  [[nodiscard]] bool has(int unit) const { return (words[unit / 64] >> (unit % 64) & 1) != 0; }
  void set(int unit) { words[unit / 64] |= std::uint64_t{1} << (unit % 64); }
  // The units of [lo, hi), word by word.
  void set_range(int lo, int hi);
  [[nodiscard]] bool intersects(const UnitSet& o) const;
  [[nodiscard]] bool has_any(int lo, int hi) const {
    for (int u = lo; u < hi;) {
      const int bit = u % 64, count = hi - u < 64 - bit ? hi - u : 64 - bit;
      const std::uint64_t mask = count == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << count) - 1) << bit;
      if ((words[u / 64] & mask) != 0) return true;
      u += count;
    }
    return false;
  }
  UnitSet& operator|=(const UnitSet& o);
};

class Occupancy {
 public:
  //   units   units [0, units) can be marked; at most kMaxUnits
  Occupancy(std::uint32_t num_insts, int units);

  // Requires ascending instructions.
  void add_clobber(std::uint32_t inst, const UnitSet& units);
  // Units taken at the R moment of one instruction, whoever holds them.
  void block_reads(std::uint32_t inst, const UnitSet& units);

  // Requires: nobody else holds these units anywhere in the range.
  void mark(std::span<const Interval> range, int lo, int hi);
  void unmark(std::span<const Interval> range, int lo, int hi);
  [[nodiscard]] UnitSet conflicts(std::span<const Interval> range) const;
  [[nodiscard]] bool has_clobbers() const { return !clobbers_.empty(); }
  [[nodiscard]] bool has_blocked_reads() const { return has_blocked_reads_; }
  // The clobbers among them.
  [[nodiscard]] UnitSet clobbers(std::span<const Interval> range) const;

 private:
  // Rows come in stretches. `full_` has the units of those who hold a whole stretch (their rows are not written), `any_` the
  // union of a stretch: so a long range costs one word a stretch.
  static constexpr std::size_t kStretch = 64;
  template <class Whole, class Rows>
  void for_each_piece(std::span<const Interval> range, Whole whole, Rows rows) const;

  struct Clobber {
    Point point;
    UnitSet units;
  };
  std::size_t words_;
  std::vector<std::uint64_t> rows_;  // row 2i: R of instruction i; row 2i+1: W
  std::vector<std::uint64_t> full_, any_;
  std::vector<Clobber> clobbers_;
  bool has_blocked_reads_ = false;
};

}  // namespace regduel::allocator
