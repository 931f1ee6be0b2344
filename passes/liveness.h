// The roots that are live where blocks begin and end. All coalescers among the passes start from these.
//
//   live_out(b) = union over the successors s of live_in(s), and of what the phis of s read on the edge from b
//   live_in(b)  = exposed(b) + (live_out(b) - killed(b))                    (Aho, Lam, Sethi, Ullman, "Compilers", 9.2.5)
//
// both met with what a def reaches, `reached`: a root is live where a def of it reaches and a use of it is reached (ir/FORMAT.md,
// "Undefined").
//   - An operand of an alias is one of its root. Roots are whole here: a def of a part keeps the rest, and so it reads and does
//     not kill; nor does a guarded def.
//   - The head of a block lies before its phis. Their defs are not live there; their uses are live at the ends of the predecessors,
//     and at the head only if something else reads them.
//   - Architectural vregs are live nowhere: they hold something everywhere, and no pass moves them.
//   - Unreachable blocks are blocks like any others.
//
// Roots are solved one by one: back from the reads to the kills, then forward from the defs through the blocks found. So the cost
// grows with what is live, not with roots times blocks. Only roots that some block reads before it writes them, or that a phi
// reads, take part, because all others never cross the border of a block. Cost: O(instructions + edges at blocks where a root may
// be live, summed over the roots). Tested by liveness_test.cpp, and against the equations by properties/pass_liveness_test.cpp.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes {

// Whether the def, of an instruction with a guard or without, ends the life of all that its root held.
[[nodiscard]] inline bool kills(const ir::Function& f, const ir::Operand& def, bool is_guarded) {
  const ir::Storage s = f.storage(def);
  return def.role == ir::Role::Def && !is_guarded && s.size == f.vreg(s.root).bytes();
}
// Whether a vreg operand needs the value of its root before the instruction, as uses, guards, def-uses and defs that do not kill
// do.
[[nodiscard]] inline bool needs_old_value(const ir::Function& f, const ir::Operand& op, bool is_guarded) {
  return op.reads() || !kills(f, op, is_guarded);
}

class Liveness {
 public:
  // `cfg` is that of `f`. No reference to either is kept.
  Liveness(const ir::Function& f, const ir::Cfg& cfg);

  // Cost: O(log of the number of roots that are live there).
  [[nodiscard]] bool is_live_in(ir::BlockId b, ir::VRegId root) const { return contains(live_in(b), root); }
  [[nodiscard]] bool is_live_out(ir::BlockId b, ir::VRegId root) const { return contains(live_out(b), root); }
  // Ascending.
  [[nodiscard]] std::span<const ir::VRegId> live_in(ir::BlockId b) const { return in_[b.index()]; }
  [[nodiscard]] std::span<const ir::VRegId> live_out(ir::BlockId b) const { return out_[b.index()]; }
  // Roots that may be live at the head or the end of some block, ascending. All others live within one block.
  [[nodiscard]] std::span<const ir::VRegId> crossing_roots() const { return roots_; }

 private:
  static bool contains(std::span<const ir::VRegId> roots, ir::VRegId root) { return std::ranges::binary_search(roots, root); }

  std::vector<ir::VRegId> roots_;
  Grouped<ir::VRegId> in_, out_;  // by block
};

}  // namespace regduel::passes
