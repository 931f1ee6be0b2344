// A parallel copy as a sequence of copies (Boissinot et al. 2009, algorithm 1): a move is emitted once no other move still reads
// its def, and a cycle is broken by saving one of its vregs. The sequence demands no more registers than its widest move. Tested by
// moves_in_order_test.cpp.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/program.h"

namespace regduel::passes::conventional {

struct Move {
  ir::Operand def, use;  // roles Def and Use, of one width
};

// new_vreg(root) declares a vreg that can hold what `root` holds.
//   Requires  no move of a storage to itself, no two that write the same bytes.
//   Order     that of `parallel` where nothing is against it.   Cost  O(moves log moves)
[[nodiscard]] std::vector<Move> moves_in_order(const ir::Function& f, std::span<const Move> parallel,
                                               const std::function<ir::VRegId(ir::VRegId root)>& new_vreg);

}  // namespace regduel::passes::conventional
