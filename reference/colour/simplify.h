// Simplification: takes nodes off the graph one by one (source 003, phase 4; Briggs, Cooper, Torczon 1994).
//
// A node whose squeeze is below the number of its positions goes first, because any colouring of its neighbours leaves a position
// for it. If there is none, another node is taken off optimistically: the one with the least spill cost / squeeze if some node will
// have to be spilled, or the one with the least squeeze beyond its positions (the smallest-last order of Matula and Beck 1983) if a
// colouring of all nodes is sought. Among trivially colourable nodes narrow ones go first, so that wide ones are coloured first.
// Tested by simplify_test.cpp, against a search through all nodes at each step.
#pragma once

#include <vector>

#include "reference/colour/file_graph.h"

namespace regduel::reference {

enum class Optimism {
  CheapestFirst,  // the candidates for spilling come up last in selection
  SmallestLast,   // of equal ones, the one that got so far last
};

// All nodes that are neither merged nor fixed, in the order in which they were taken off. Cost O(edges) and,
// for CheapestFirst, O(nodes x log nodes).
[[nodiscard]] std::vector<NodeId> simplify(const FileGraph& graph, const UnitSet& available, Optimism optimism);

}  // namespace regduel::reference
