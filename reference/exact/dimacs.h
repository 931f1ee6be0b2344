// Graphs as the colouring benchmarks of DIMACS have them (graphs from real register allocation among them):
//
//   c anything
//   p edge VERTICES EDGES     also "p col", and a third number is tolerated; the number of edges is that of the lines
//   e A B                     vertices are numbered from 1; an edge given twice, or both ways, is one
//   n V W                     a weight, which no colouring needs; a loop from a vertex to itself is passed over as well
//
// and as PACE has them (.gr): "p tw VERTICES EDGES", then a line "A B" for each edge.
//
// Tested by dimacs_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source_error.h"
#include "reference/colour/file_graph.h"

namespace regduel::reference {

struct PlainGraph {
  NodeId vertices = 0;
  std::vector<std::pair<NodeId, NodeId>> edges;  // from 0, the lesser first, ascending, each once
  std::size_t loops = 0, weights = 0;            // passed over
};

inline constexpr NodeId kMostVertices = 100'000;
inline constexpr std::size_t kMostEdges = 20'000'000;

//   file   its name, for error messages
[[nodiscard]] Parsed<PlainGraph> parse_dimacs(std::string_view text, std::string_view file);

// Each vertex a scalar that may be spilled at the cost of one.
[[nodiscard]] FileGraph graph_of(const PlainGraph& graph);

}  // namespace regduel::reference
