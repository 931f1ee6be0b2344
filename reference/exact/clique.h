// The heaviest clique: nodes that all interfere with each other, so that each needs units of its own.
//
// Branch and bound. Nodes are taken in the degeneracy order (smallest last: Matula, Beck 1983), the densest part first; each is asked
// for the heaviest clique with it among its later neighbours (Eppstein, Loeffler, Strash 2010), of which there are no more than the
// degeneracy. Candidates are coloured greedily: a clique has one node of each colour at most, so the widest of each colour add up to
// a bound (Tomita, Seki 2003). Interference graphs of real programs are nearly chordal, where the first clique is mostly the
// heaviest. Tested by clique_test.cpp, against all cliques.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/colour/file_graph.h"

namespace regduel::reference {

struct Clique {
  std::vector<NodeId> nodes;  // ascending
  int units = 0;              // of all of them
  bool is_heaviest = true;    // false: the steps did not suffice to find out
};

inline constexpr std::int64_t kCliqueSteps = 2'000'000;

// Among `nodes`, none of which is fixed, where nothing is merged. Cost: exponential at worst; at most so many steps, each of
// (degeneracy^2 / 64) operations.
[[nodiscard]] Clique heaviest_clique(const FileGraph& graph, const std::vector<NodeId>& nodes, std::int64_t steps = kCliqueSteps);

}  // namespace regduel::reference
