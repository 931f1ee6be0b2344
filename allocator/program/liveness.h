// Liveness and live ranges of a program without phis whose vreg operands all name roots (out_of_ssa makes such programs).
//
// Points, intervals and ranges are those of interval.h. A value that dies at i ends at 4i+1, one born there begins at 4i+2: both
// may stand in one register, and in one that i clobbers. An operand always holds its register at its own moments, even where its
// value is dead or undefined (FORMAT.md, "Demand"): guarded defs at R and W, defs of a part from R to W, early-clobber defs at R
// and W.
//
// A byte of a vreg is live where some def of it reaches *and* some use of it is reached. The dataflow runs on *atoms*, the pieces into
// which the parts named by operands cut a vreg, and only on those that are read in some block before they are wholly written
// there; everything else is local. Guarded defs do not kill, defs of a part kill that part.
//
// Source: source 000 needs it, but leaves it out; classic backward liveness met with forward "some def reaches", atom by atom, so
// that the cost is that of the result. Tested by liveness_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/interval.h"
#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::allocator {

// Bit b = byte b of a vreg's storage; no vreg has more than 32 bytes.
using ByteMask = std::uint32_t;
[[nodiscard]] constexpr ByteMask byte_mask(int offset, int size) {
  return (size >= 32 ? ~ByteMask{0} : (ByteMask{1} << size) - 1) << offset;
}
[[nodiscard]] ByteMask bytes_of(const ir::Function& f, const ir::Operand& op);

class Liveness {
 public:
  static constexpr std::uint32_t kUnnumbered = 0xFFFFFFFFu;

  // Cost: O(operands + sum over global atoms of the edges across which they live; mostly far less, as 64 atoms go together).
  Liveness(const ir::Function& f, const ir::Cfg& cfg);
  // The same without bytes of operands: only ranges and numbers may be asked for.
  //   num_global   vregs from this one on are temporaries, which are not live across block ends. A temporary may be read without a
  //                def before it, where its vreg is undefined, and would otherwise seem to be
  Liveness(const ir::Function& f, const ir::Cfg& cfg, std::size_t num_global);
  // The liveness of a program that is `before`'s with instructions added. A vreg with unchanged operands takes its range over; only
  // the others are analysed. The blocks and edges are the same.
  //   before       all of the program before
  //   now_at       by instruction of the program before: its index in f; kUnnumbered = it is not there
  //   is_changed   by long-lived vreg, that is all but temporaries: 1 = operands of it were added, removed or changed
  // Cost: O(operands of f + length of the ranges), little of it for ranges that are taken over.
  Liveness(const ir::Function& f, const ir::Cfg& cfg, const Liveness& before, std::span<const std::uint32_t> now_at,
           std::span<const char> is_changed);

  // The program has lost operands of this vreg. Its range may be too long now, and is not taken over any more.
  void outdate(std::size_t vreg) { is_outdated_[vreg] = 1; }

  [[nodiscard]] std::uint32_t num_numbered() const { return static_cast<std::uint32_t>(inst_at_.size()); }
  // Number of an instruction (index into f.insts); kUnnumbered in unreachable blocks.
  [[nodiscard]] std::uint32_t number_of(std::size_t inst) const { return number_of_[inst]; }
  // The instruction (index into f.insts) with this number, and its block.
  [[nodiscard]] std::uint32_t inst_at(std::uint32_t number) const { return inst_at_[number]; }
  [[nodiscard]] ir::BlockId block_at(std::uint32_t number) const { return block_at_[number]; }

  [[nodiscard]] std::span<const Interval> range(std::size_t vreg) const {
    return {intervals_.data() + range_begin_[vreg], range_begin_[vreg + 1] - range_begin_[vreg]};
  }
  // By operand (index into f.operands): bytes of the root that it reads and that some def reaches.
  [[nodiscard]] ByteMask read_bytes(std::size_t operand) const { return read_[operand]; }
  // Bytes of a written operand's root that are live after the instruction.
  [[nodiscard]] ByteMask live_after(std::size_t operand) const { return after_[operand]; }
  // Bytes of a written operand's root that are live before the instruction and that some def reaches there.
  [[nodiscard]] ByteMask reached_before(std::size_t operand) const { return before_[operand]; }

 private:
  friend class LivenessBuilder;
  std::vector<std::uint32_t> number_of_, inst_at_;
  std::vector<ir::BlockId> block_at_;
  std::vector<std::uint32_t> range_begin_;
  std::vector<Interval> intervals_;
  std::vector<ByteMask> read_, after_, before_;
  // By vreg: 1 = its range is not taken over. Such a range may begin at R of a block's first instruction although the vreg is not live
  // at the block's head; a range does not tell the two apart.
  std::vector<char> is_outdated_;
};

}  // namespace regduel::allocator
