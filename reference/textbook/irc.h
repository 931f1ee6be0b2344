// Iterated register coalescing.
//
//   L. George, A. W. Appel, Iterated register coalescing, TOPLAS 18(3), 1996
//
// Simplify: a node of low degree without copies is taken off. Coalesce: a copy whose ends pass Briggs' test, or George's where one is
// precoloured, on the graph as it stands. Freeze: a node of low degree gives up its copies. Spill: the cheapest node by spill
// cost over degree is taken off in spite of its degree. The first that applies is done, until the graph is empty; then each node gets
// the lowest free register, in the opposite order. Degrees are squeezes (file_graph.h), as tuples need. Tested by textbook_test.cpp.
#pragma once

#include "reference/textbook/colouring.h"

namespace regduel::reference {

// Cost O(edges x log nodes + copies x degree x passes).
Colouring colour_by_iterated_coalescing(FileGraph& graph, const Registers& registers);

}  // namespace regduel::reference
