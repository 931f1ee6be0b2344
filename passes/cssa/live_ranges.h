// Live ranges of the vregs that phis mention, and of the hubs, in the program with its phis taken apart (phi_copies.h): the
// segments of points at which a def reaches and a use is reached, and in each the *value* that is there.
//
// Points. Each block is a row of places; a place has a point at which it reads, 2k, and one at which it writes, 2k + 1:
//
//   phis that stay | copies from hubs | instructions ... | copies to hubs | terminator | what phis that stay read
//
// A range begins where it is written: what dies as an operand ends before, what is written at once overlaps. An early-clobber def
// is written at the point at which its instruction reads. A def that nothing reads has a range up to the end of its place, so that
// the defs of one instruction overlap. A guarded def and one of a part leave what was there.
//
// Each range is found on its own, by going back from the uses to the defs (Appel, Palsberg, "Modern Compiler Implementation", 19.6;
// "liveness by use"), and from the defs on through what was found: cost O(places that mention it + blocks where it lives + their
// edges), so that what lives in few blocks costs little however large the program is.
//
// Values (Boissinot et al. 2009, III.B): V(x) = V(y) where x = copy y is the only def of x, or a phi of y alone, and neither x nor
// y is read where its only def does not dominate. Two ranges with one value hold the same bytes wherever both are live. Without
// values, each vreg has one of its own. Either way a hub holds what was copied into it, up to the end of that block: else a phi
// would interfere with what it takes wherever that goes another way as well.
//
// Tested by live_ranges_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"
#include "passes/cssa/phi_copies.h"
#include "passes/live/segments.h"

namespace regduel::passes::conventional {

// A node is a vreg, by its number, or the hub of a phi: number of vregs + number of the phi.
class LiveRanges {
 public:
  LiveRanges(const ir::Function& f, const ir::Cfg& cfg, const PhiCopies& phis, bool by_values);

  [[nodiscard]] const live::Segments& operator[](std::size_t node) const { return ranges_[node]; }
  [[nodiscard]] std::size_t num_nodes() const { return ranges_.size(); }
  [[nodiscard]] std::span<const live::Segments> by_node() const { return ranges_; }
  // The point at which the places of a block begin; that of the block behind the last is the end of all.
  [[nodiscard]] std::uint32_t begin_of(ir::BlockId b) const { return begin_[b.index()]; }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<live::Segments> ranges_;
};

}  // namespace regduel::passes::conventional
