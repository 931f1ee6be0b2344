// Cuts for the reducer: each takes something out of a program taken apart (edit.h) and mends what that leaves behind, so that the
// result is well-formed nearly always; ir::check has the last word.
//
// Mending: where the last def of a vreg went, its readers lose that operand, or go themselves where they cannot do without it.
// Vregs without a def before the cut are left as they are.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "fuzz/edit/edit.h"

namespace regduel::fuzz {

// A place in the program: block and instruction, by position.
struct InstPlace {
  std::size_t block = 0;
  std::size_t inst = 0;
};

// Every instruction but the terminators, in program order.
[[nodiscard]] std::vector<InstPlace> body_places(const EditProgram& p);

// Takes out the instructions at `places` (ascending; no terminators).
void drop_insts(EditProgram& p, const std::vector<InstPlace>& places);
// Takes out operand `k`; ties to it are dissolved, the others counted anew. A phi loses the predecessor that goes with it.
void drop_operand(EditInst& i, std::size_t k);
// Takes out an operand and mends. A copy loses the pair, or goes itself where that is its only one; a phi goes with its def.
void drop_operand_at(EditProgram& p, InstPlace at, std::size_t k);

// Takes out a vreg (a root) with everything that writes it, and mends.
void drop_vreg(EditProgram& p, ir::VRegId root);

// Puts another terminator at the end of block `b`: bra to `target`, or the end of the function (exit, ret) where it is invalid.
void end_block_with(EditProgram& p, std::size_t b, ir::BlockId target);
// Takes target `k` out of an mbra with several.
void drop_target(EditProgram& p, std::size_t b, std::size_t k);
// Leads every edge to block `b`, in which there is nothing but a bra elsewhere, past it; after the entry, the next block becomes
// the entry. False where a phi there can't be told apart.
bool lead_past(EditProgram& p, std::size_t b);
// Joins each block that ends in a bra with its only successor, where that has no other predecessor. Returns how many were joined.
std::size_t join_blocks(EditProgram& p);
// Takes out the blocks that the entry does not reach, and the operands of phis whose edges are gone.
void drop_unreachable(EditProgram& p);

// Instead of the instruction: its first def and a use of the same shape become one vreg everywhere. False where there is no such
// pair.
bool bypass(EditProgram& p, InstPlace at);
// The instruction and the next one become one operation, with the operands of both. False where one is more than a plain operation,
// where the second names a vreg that the first defines, or where that would be many operands.
bool join_with_next(EditProgram& p, InstPlace at);
// Every operand of `from` becomes one of `to`. False where they are not of one class, width and alignment, or one is no root.
bool merge_vregs(EditProgram& p, ir::VRegId from, ir::VRegId to);
// Puts the blocks in the order of a walk that follows first targets first, takes out the declarations that no operand names, and
// numbers instructions and vregs from 0 in order of first appearance; blocks and vregs lose their names. Kept: the order of
// the blocks stays, as a failure may depend on it.
enum class Blocks { Ordered, Kept };
void renumber(EditProgram& p, Blocks blocks = Blocks::Ordered);

}  // namespace regduel::fuzz
