// Optimistic colouring as it was published, without any search for fewer registers.
//
//   P. Briggs, K. D. Cooper, L. Torczon, Improvements to graph coloring register allocation, TOPLAS 16(3), 1994
//   G. J. Chaitin, Register allocation and spilling via graph coloring, 1982: spill code at each def and use
//
// Coalesce conservatively until nothing more can be merged; take nodes off the graph, those of low degree first, then the cheapest by
// spill cost over degree; give each the lowest free register on the way back. Tested by textbook_test.cpp.
#pragma once

#include "reference/textbook/colouring.h"

namespace regduel::reference {

Colouring colour_after_chaitin_and_briggs(FileGraph& graph, const Registers& registers);

}  // namespace regduel::reference
