// Register allocation as a partitioned boolean quadratic problem.
//
//   L. Hames, B. Scholz, Nearly optimal register allocation with PBQP, JMLC 2006
//   B. Scholz, E. Eckstein, Register allocation for irregular architectures, LCTES 2002
//
// Each node chooses one option, to be spilled or one of its aligned positions, at a cost of its own; each edge adds the cost of a pair of
// options: infinite where two tuples overlap, less than nothing where a copy becomes an identity. A node with one neighbour is
// reduced into the neighbour's costs (R1), one with two into the edge between these (R2); otherwise the cheapest node by spill cost
// over degree is taken off undecided (RN, the late heuristic of 2006). On the way back each node takes its cheapest option. Pairs of
// options whose products would be too large for R2 are left to RN. Tested by textbook_test.cpp.
#pragma once

#include "reference/textbook/colouring.h"

namespace regduel::reference {

Colouring colour_by_pbqp(FileGraph& graph, const Registers& registers);

}  // namespace regduel::reference
