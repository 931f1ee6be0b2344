// Which roots are live where blocks begin and end: what all coalescers among the passes start from.
//
//   live_out(b) = union over the successors s of live_in(s), and of what the phis of s read on the edge from b
//   live_in(b)  = exposed(b) + (live_out(b) - killed(b))                    (Aho, Lam, Sethi, Ullman, "Compilers", 9.2.5)
//
// both met with what a def reaches, `reached`: a root is live where a def of it reaches and a use of it is reached (ir/FORMAT.md,
// "Undefined").
//   - An operand of an alias is one of its root. Roots are whole here: a def of a part keeps the rest, and so it reads and does
//     not kill; nor does a guarded def.
//   - The head of a block lies before its phis. What they define is not live there, what they read is live at the ends of the
//     predecessors and not at the head, unless something else reads it.
//   - Architectural vregs are live nowhere: they hold something everywhere, and no pass moves them.
//   - Unreachable blocks are blocks like any others.
//
// Only roots that some block reads before it writes them, or that a phi reads, have bits: the others never cross the border of a
// block. Cost: O((blocks + edges) * roots with bits / 64) a round, as many rounds as loops are nested and a few. Tested by
// liveness_test.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes {

// Whether the def, of an instruction with a guard or without, ends the life of all that its root held.
[[nodiscard]] inline bool kills(const ir::Function& f, const ir::Operand& def, bool is_guarded) {
  const ir::Storage s = f.storage(def);
  return def.role == ir::Role::Def && !is_guarded && s.size == f.vreg(s.root).bytes();
}
// Whether a vreg operand needs what its root holds before the instruction: uses, guards, def-uses, and defs that do not kill.
[[nodiscard]] inline bool needs_old_value(const ir::Function& f, const ir::Operand& op, bool is_guarded) {
  return op.reads() || !kills(f, op, is_guarded);
}

class Liveness {
 public:
  // `cfg` is that of `f`. Neither is kept.
  Liveness(const ir::Function& f, const ir::Cfg& cfg);

  [[nodiscard]] bool is_live_in(ir::BlockId b, ir::VRegId root) const { return contains(in_, b, root); }
  [[nodiscard]] bool is_live_out(ir::BlockId b, ir::VRegId root) const { return contains(out_, b, root); }
  // visit(root) for each, in ascending order.
  template <class Visit>
  void each_live_in(ir::BlockId b, Visit&& visit) const {
    each(in_, b, visit);
  }
  template <class Visit>
  void each_live_out(ir::BlockId b, Visit&& visit) const {
    each(out_, b, visit);
  }
  // Roots that may be live in some block's head or end: all others are born and die inside blocks. Ascending.
  [[nodiscard]] std::span<const ir::VRegId> crossing_roots() const { return roots_; }

 private:
  using Words = std::vector<std::uint64_t>;  // a row of words_ a block

  [[nodiscard]] bool contains(const Words& rows, ir::BlockId b, ir::VRegId root) const {
    const std::uint32_t bit = bit_of_[root.index()];
    return bit != kNoBit && (rows[b.index() * words_ + bit / 64] >> bit % 64 & 1) != 0;
  }
  template <class Visit>
  void each(const Words& rows, ir::BlockId b, Visit&& visit) const {
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t word = rows[b.index() * words_ + w]; word != 0; word &= word - 1)
        visit(roots_[w * 64 + static_cast<std::size_t>(std::countr_zero(word))]);
  }
  void number_roots(const ir::Function& f);

  static constexpr std::uint32_t kNoBit = 0xFFFFFFFFu;
  std::vector<std::uint32_t> bit_of_;  // by vreg
  std::vector<ir::VRegId> roots_;      // by bit
  std::size_t words_ = 0;
  Words in_, out_;
};

}  // namespace regduel::passes
