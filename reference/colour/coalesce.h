// Conservative coalescing, on the graph as it stands before simplification.
//
// Interference first, then two tests, either of which is enough (Briggs, Cooper, Torczon 1994; George and Appel 1996; source 003,
// phase 3), both in units of squeeze rather than of neighbours (file_graph.h):
//   Briggs   the neighbours of the merged node that are not trivially colourable squeeze it by less than it has positions
//   George   each neighbour of the one node is trivially colourable, or a neighbour of the other as well
// With a precoloured node only George's test applies: a neighbour must be trivially colourable, or kept out of that register
// anyway. A neighbour counts as not trivially colourable where squeeze x factor >= positions. The factor is 1 unless a knob says
// otherwise; below 1 the test is bolder (source 003 has 4/5). Copies in frequent blocks come first. Tested by coalesce_test.cpp.
#pragma once

#include "ir/allocator.h"
#include "reference/colour/file_graph.h"

namespace regduel::reference {

struct Ratio {
  int numerator = 1, denominator = 1;
};

struct CoalesceOptions {
  UnitSet available;  // the units that may be used
  Ratio factor;
  bool conservative = true;  // false: any two nodes that do not interfere are merged (Chaitin 1982)
  ir::Fuel* fuel = nullptr;  // asked before each merge
};

struct Coalesced {
  int merges = 0;
  // A merge was refused for want of a position. If none was, more units change nothing without the conservative test.
  bool wants_units = false;
};

// Merges nodes until nothing more can be merged. Requires a graph in which nothing was merged before.
Coalesced coalesce(FileGraph& graph, const CoalesceOptions& options);

}  // namespace regduel::reference
