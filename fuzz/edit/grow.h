// Growth for the mutator: each puts something into a program taken apart (edit.h) at a place that is drawn. The opposite of cut.h.
// They edit without looking at all rules; ir::check decides afterwards. False where there is no such place.
#pragma once

#include <algorithm>

#include "base/random.h"
#include "fuzz/edit/edit.h"
#include "ir/target.h"

namespace regduel::fuzz {

// A place among the instructions behind the phis and before the terminator, drawn.
[[nodiscard]] std::size_t any_place(const EditBlock& b, Random& random);
void insert_at(EditBlock& b, std::size_t at, EditInst i);

// A vreg for which `wanted` holds, mostly one of an operand within a few instructions of place `at`: bugs need
// instructions that share values. Invalid where a few tries find none.
template <class Wanted>
[[nodiscard]] ir::VRegId vreg_near(const EditProgram& p, const EditBlock& b, std::size_t at, Random& random, Wanted wanted) {
  constexpr std::size_t kWindow = 6;
  const std::size_t first = at > kWindow ? at - kWindow : 0, end = std::min(b.insts.size(), at + kWindow);
  for (int attempt = 0; attempt < 24 && !p.header.vregs.empty(); ++attempt) {
    if (attempt < 16 && first < end && !random.chance(25)) {
      const EditInst& i = b.insts[first + random.below(static_cast<std::uint32_t>(end - first))];
      if (i.ops.empty()) continue;
      const ir::Operand& o = i.ops[random.below(static_cast<std::uint32_t>(i.ops.size()))];
      if (o.is_vreg() && wanted(p.header.vreg(o.vreg()))) return o.vreg();
    } else if (const ir::VRegId v(random.below(static_cast<std::uint32_t>(p.header.vregs.size()))); wanted(p.header.vreg(v))) {
      return v;
    }
  }
  return {};
}

// The instructions of block `b` from `at` on become a block of their own. Edges, and what phis say of them, move with them.
ir::BlockId split_block(EditProgram& p, std::size_t b, std::size_t at);
// Edge `k` of block `from` leads to `next`. Phis lose an operand, or gain one: their own def.
bool lead_to(EditProgram& p, std::size_t from, std::size_t k, ir::BlockId next);

// A jump becomes a branch with a second target.
bool add_edge(EditProgram& p, Random& random);
// An edge from outside into the middle of a loop: a second entry.
bool make_irreducible(EditProgram& p, Random& random);
// A stretch of one block is repeated: it becomes a block that may branch back to itself.
bool wrap_in_loop(EditProgram& p, Random& random);
// A call by the ABI of the target, with arguments, perhaps a result, and everything that calls clobber.
bool insert_call(EditProgram& p, const ir::Target& target, Random& random);
// A call becomes an operation on the same values, in any registers, that clobbers nothing.
bool inline_call(EditProgram& p, Random& random);
// A copy of vregs that are there, of several pairs perhaps, or one that swaps two.
bool insert_copy(EditProgram& p, Random& random);
// A phi of vregs that are there, in a block with predecessors.
bool insert_phi(EditProgram& p, Random& random);
// New vregs, all live at one point.
bool raise_pressure(EditProgram& p, Random& random);
// A stretch of instructions of another program; its vregs become some of this program, or new ones.
bool splice(EditProgram& p, const EditProgram& other, Random& random);

}  // namespace regduel::fuzz
