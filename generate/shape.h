// The control-flow skeleton of a generated program: blocks with their terminators, nothing in them yet.
//
// Grown as nested regions (sequence, if, if-else, loops, switch, early exit), then bent: extra edges make it irreducible,
// edges are doubled, unreachable blocks and endless loops hung on, the entry gets predecessors, blocks are renumbered.
#pragma once

#include <vector>

#include "base/random.h"
#include "ir/program.h"

namespace regduel::generate {

// Percentages are chances in a program, weights are relative.
struct ShapeOptions {
  int blocks = 1;       // approximate
  int loop_weight = 3;  // against 6 for the loop-free regions together
  int switch_weight = 1;
  int extra_edges = 0;   // per 100 blocks
  int double_edges = 0;  // percent: an edge that a terminator names twice
  int unreachable = 0;   // percent
  int endless = 0;       // percent: a loop that nothing leaves
  int entry_preds = 0;   // percent
  int shuffle = 30;      // percent: blocks numbered in random order
};

struct ShapeBlock {
  ir::Op terminator = ir::Op::Exit;  // Exit, Bra, CBra or MBra
  std::vector<int> targets;
  int depth = 0;  // of the loops it was grown in
};
struct Shape {
  std::vector<ShapeBlock> blocks;  // blocks[0] is the entry
  // Distinct predecessors of each block, ascending.
  [[nodiscard]] std::vector<std::vector<int>> predecessors() const;
  // A dominator of each block other than itself: the immediate one, or the entry where that would cost too much. The
  // entry for unreachable blocks, -1 for the entry.
  [[nodiscard]] std::vector<int> dominators() const;
};

// Cost: O(options.blocks).
[[nodiscard]] Shape make_shape(Random& random, const ShapeOptions& options);

}  // namespace regduel::generate
