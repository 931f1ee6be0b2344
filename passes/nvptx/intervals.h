// Live intervals: when each piece of each root is live, and where it is written.
//
//   slot    the head of a block (its phis write there), an instruction, or the end of a block (the phis behind it read there)
//   point   2 * slot = reads, 2 * slot + 1 = writes; in the order in which blocks and instructions stand
//   segment half-open [begin, end) of points in which a piece is live or just written
//
// Source: source 004, phases 2 and 3, "Interval Tree", "MachineOperand Pointer Encoding". Segments, without values, are a
// red-black tree ordered by point (live/segments.h), and definitions are one of Boost.Intrusive, so that one set is poured into
// another without allocation. Operands beside the normal ones:
//   tied      the def takes the register of the use: where the use dies, its piece ends behind the write, and the write is a
//             definition of it that only the tied def may share
//   implicit  a guarded def and a def of a part need what was there: they end no life. As first ones they begin one.
// An early-clobber def writes at the reads; what its instruction reads has a segment there even where nothing defines it.
// Tested by intervals_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "ir/cfg.h"
#include "ir/program.h"
#include "passes/live/segments.h"
#include "passes/nvptx/origins.h"

namespace regduel::passes::nvptx {

using live::Point, live::Segment, live::Segments;

class Slots {
 public:
  explicit Slots(const ir::Function& f) : f_(&f) {}
  [[nodiscard]] Point begin(ir::BlockId b) const { return 2 * (f_->block(b).first_inst + 2 * b.value); }
  [[nodiscard]] Point end(ir::BlockId b) const { return begin(b) + 2 * (f_->block(b).num_insts + 2); }
  // Of an instruction that is no phi: its index among all.
  [[nodiscard]] Point reads(ir::BlockId b, std::uint32_t inst) const { return 2 * (inst + 2 * b.value + 1); }
  [[nodiscard]] Point writes(ir::BlockId b, std::uint32_t inst) const { return reads(b, inst) + 1; }
  [[nodiscard]] Point phi_writes(ir::BlockId b) const { return begin(b) + 1; }

 private:
  const ir::Function* f_;
};

enum class Makes : std::uint8_t {
  Value,  // a new value
  Copy,   // what `other` holds, at the same bytes
  Phi,    // what the uses of the phi hold
  Tie,    // not written itself: the def `other` takes the register of this use, which dies here
};

struct Definition : boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>,
                                                    boost::intrusive::optimize_size<true>> {
  Point at = 0;
  std::uint32_t inst = 0;     // index in Function::insts
  std::uint16_t operand = 0;  // the def; of a tie, the tied def
  Makes makes = Makes::Value;
  ir::VRegId other;  // a root

  friend bool operator<(const Definition& a, const Definition& b) {
    return std::tie(a.at, a.inst, a.operand, a.makes) < std::tie(b.at, b.inst, b.operand, b.makes);
  }
};
struct ByPoint {
  bool operator()(const Definition& d, Point p) const { return d.at < p; }
  bool operator()(Point p, const Definition& d) const { return p < d.at; }
};
using Definitions = boost::intrusive::multiset<Definition>;

struct LiveInterval {
  Segments segments;
  Definitions definitions;
};

class Intervals {
 public:
  // Of the roots that take part. Cost: O(n log n) in operands and in what is live at the borders of blocks.
  Intervals(const ir::Function& f, const ir::Cfg& cfg, const Origins& origins, std::span<const char> takes_part);

  [[nodiscard]] int pieces(ir::VRegId root) const { return static_cast<int>(first_[root.index() + 1] - first_[root.index()]); }
  [[nodiscard]] LiveInterval& of(ir::VRegId root, int piece) {
    return intervals_[first_[root.index()] + static_cast<std::size_t>(piece)];
  }
  [[nodiscard]] const LiveInterval& of(ir::VRegId root, int piece) const {
    return intervals_[first_[root.index()] + static_cast<std::size_t>(piece)];
  }
  // The roots that are live throughout block b and not written in it. Ascending.
  [[nodiscard]] std::span<const ir::VRegId> live_through(ir::BlockId b) const { return live_through_[b.index()]; }

 private:
  friend class IntervalBuilder;
  std::vector<std::uint32_t> first_;  // by root, its first piece; none for what takes no part
  std::vector<Definition> nodes_;
  std::vector<LiveInterval> intervals_;  // of nodes_: gone before them
  Grouped<ir::VRegId> live_through_;
};

}  // namespace regduel::passes::nvptx
