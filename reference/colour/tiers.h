// The order of source 003, phase 4, in which nodes are taken off the graph:
//
//   tier 1   the first node of which at least K neighbours have a low degree:  factor x degree < K
//   tier 2   the node with the greatest  cost / max(factor x degree, 1),  if that is more than 0
//   victim   the node with the least  cost / max(degree, 1)
//
// K is the number of units. Both tiers are inverted against the textbook: what has many neighbours, or costs most, is taken
// off first and so gets its colour last. The victim is only reached where all nodes left cost nothing. Nodes that cannot be spilled
// (temps around single instructions) are taken off last, in the order of simplify.h (DECISIONS.md: "pushed last").
//
// Degrees are sums of weights: 1 a neighbour; with constraint edges 1 more where either of the two is a tuple, which alignment may
// keep out, and the weight of each constraint edge given. Tested by tiers_test.cpp.
#pragma once

#include <span>
#include <vector>

#include "reference/colour/coalesce.h"
#include "reference/colour/file_graph.h"
#include "reference/colour/interference_graph.h"
#include "reference/program/code.h"
#include "reference/program/problem.h"

namespace regduel::reference {

// A soft constraint that keeps two nodes apart.
struct ConstraintEdge {
  NodeId a = kNoNode, b = kNoNode;
  int weight = 1;
};

struct TierOptions {
  Ratio factor{4, 5};
  bool tuples_weigh = true;
  std::span<const ConstraintEdge> constraints;
};

// All nodes that are neither merged nor fixed, in the order in which they are taken off. Cost O(edges x log nodes),
// in practice near O(edges).
[[nodiscard]] std::vector<NodeId> take_off_in_tiers(const FileGraph& graph, const UnitSet& available, const TierOptions& options);

// Values that are operands of one instruction and would stand in one register bank, were they to get registers in the order of
// their numbers (the source's "predicted"): weight 2. Each pair once. Cost O(operands squared of an instruction).
[[nodiscard]] std::vector<ConstraintEdge> same_bank_edges(const Problem& problem, const Code& code,
                                                          const InterferenceGraphs& graphs, ir::RegFile file);

}  // namespace regduel::reference
