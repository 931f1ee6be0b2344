// Register allocation on chordal graphs: spill first, then colour along the dominator tree.
//
//   S. Hack, D. Grund, G. Goos, Register allocation for programs in SSA form, CC 2006
//   L. A. Belady, A study of replacement algorithms for a virtual-storage computer, 1966
//
// All values that are live at the head of a block with several predecessors become new ones there, as phis would make them, and so
// does a value that comes back from memory. The live ranges of these are subtrees of the dominator tree, their interference graph is
// chordal, and the order in which they are defined along the tree is the reverse of a perfect elimination order: where no more units are
// live than there are, each gets a register that is free, without any search. So what goes to memory is decided by the number of live
// units alone: where there are too many, the value whose next use is furthest away (Belady) goes, each exit of a loop being far. At a
// join the values stay in registers that are next used soonest, each in the register where it was if that is free. What
// moves at the end of each edge is what phis would copy.
//
// Tuples, clobbers and fixed operands are beyond the theorem: there a value can also go because free units do not lie side by side.
// Tested by textbook_test.cpp.
#pragma once

#include "reference/textbook/split.h"

namespace regduel::reference {

[[nodiscard]] ir::Allocation allocate_by_chordal_colouring(const Problem& problem, ir::Fuel* fuel);

}  // namespace regduel::reference
