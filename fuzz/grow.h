// Growth for the mutator: each puts something into a program taken apart (edit.h) at a place that is drawn. The opposite of cut.h.
// They edit without looking at all rules; ir::check decides afterwards. False where there is no such place.
#pragma once

#include "fuzz/edit.h"
#include "ir/random.h"
#include "ir/target.h"

namespace regduel::fuzz {

// A place among the instructions behind the phis and before the terminator, drawn.
[[nodiscard]] std::size_t any_place(const EditBlock& b, Random& random);
void insert_at(EditBlock& b, std::size_t at, EditInst i);

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
// New vregs, all live at one point.
bool raise_pressure(EditProgram& p, Random& random);
// A stretch of instructions of another program; its vregs become some of this program, or new ones.
bool splice(EditProgram& p, const EditProgram& other, Random& random);

}  // namespace regduel::fuzz
