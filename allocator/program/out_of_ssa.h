// The first lowering: phis become parallel copies on the edges, and every operand names its root.
//
// After it, nothing downstream knows of phis, aliases or critical edges:
//
//   * each phi is marked deleted; on each reachable edge into its block there is one inserted parallel copy with one pair a phi.
//     The copy stands at the head of the block if it has one predecessor; else before the predecessor's terminator if that has
//     one successor and neither reads nor clobbers a register; else in an edge block of its own, which becomes the terminator's
//     target. A parallel copy reads all its sources before it writes (FORMAT.md, "Copy"), so the swap problem and the lost-copy
//     problem cannot arise.
//   * an operand of an aliased vreg names the root and the part; the operand has the fixed register, wherever that was declared.
//
// Blocks and instructions keep the program's order; edge blocks come last. Vregs keep their numbers; temporaries of
// overlapping phis come behind them. Source: source 000 leaves phis to a pass before (types 8 and 15 only prefer); the placement
// rule is that of any out-of-SSA pass. Tested by out_of_ssa_test.cpp.
#pragma once

#include <span>

#include "ir/allocator.h"
#include "ir/program.h"

namespace regduel::allocator {

//   dead   by instruction: 1 = a copy or phi that is left out (dead_copies.h); empty = none
// Requires: well-formed, phase Virtual. Inserted instructions have no id yet. Without fuel all copies stand in edge blocks. Cost:
// O(size + edges).
[[nodiscard]] ir::Function out_of_ssa(const ir::Function& program, ir::Fuel* fuel = nullptr, std::span<const char> dead = {});

}  // namespace regduel::allocator
