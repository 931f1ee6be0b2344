// Spill code: constraints of single instructions, spilled vregs and pinned instructions become temporaries and moves.
//
// Each round of spilling starts anew from the program without phis, under its plan. Afterwards a vreg has one home for its whole
// live range:
//
//   fixed operand      t{=R4} = copy v before, v = copy t after: v may be anywhere between instructions
//   tied def           D = copy U before, D in both places; a temporary if the instruction reads D too, or alignments differ
//   spilled vreg       a refill before each use, a spill store after each def whose value is needed. A guarded def is refilled,
//                      modified and stored; a def of a part stores the part. A refilled value may serve later uses in its block
//   packed predicate   bit_refill for refill, bit_spill for spill store; without {inout} if no other predicate is in the pack
//   recomputed vreg    a remat in place of each refill; the def is deleted
//   pinned instruction each operand becomes a temporary fixed to the register that the packer chose (packing.h)
//   edge copies        edge_copies.h
//
// An original copy of one pair whose source or destination is in memory becomes the refill or the spill store itself.
// Source: source 001 "Spill Code Generation", DECISIONS "Spilling". Tested by insert_spill_code_test.cpp.
#pragma once

#include "allocator/instruction/packing.h"
#include "allocator/program/liveness.h"
#include "allocator/spill_code/plan.h"
#include "allocator/spill_code/spill_code.h"
#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::allocator {

// Requires: `live` is the liveness of `in`. Ensures: the same blocks, and the same edges between them. Cost: O(size).
[[nodiscard]] SpillCode insert_spill_code(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live, const Plan& plan,
                                          const Budget& budget);

}  // namespace regduel::allocator
