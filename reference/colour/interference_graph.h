// Interference graphs, one for each register file, on Boost.Graph.
//
// Construction (seed 003, phase 2; Chaitin 1982): at each instruction, backwards,
//   - a def interferes with all that is live after it, also if the def is dead; the source of a copy is excepted at that copy,
//     unless alignment lets the two tuples overlap in part;
//   - two defs of one instruction interfere;
//   - an early-clobber def, a def-use, a may-def and a def of a part hold their register while uses are read, and interfere
//     with these; uses of one instruction interfere with each other, even undefined ones;
//   - what lives across a clobber cannot be in the clobbered units, nor can a def of a part of the instruction.
// A precoloured temp is no vertex with edges: its units are *forbidden* to all that it interferes with.
//
// Degrees are those of Smith, Ramsey and Holloway (2004) for irregular files: `worst(a, b)` is the number of aligned positions
// of a node of shape a that one node of shape b can block; the *squeeze* of a node is the sum of that over its neighbours, and
// a node is trivially colourable where the squeeze is below the number of its positions.
// Tested by interference_graph_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <boost/graph/compressed_sparse_row_graph.hpp>

#include "reference/code.h"
#include "reference/colour/edge_set.h"
#include "reference/liveness.h"
#include "reference/lower.h"
#include "reference/unit_set.h"

namespace regduel::reference {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xFFFFFFFFu;

// What no number of refills costs: local temps and precoloured nodes.
inline constexpr std::uint64_t kInfiniteCost = std::uint64_t{1} << 43;

struct CopyPair {
  NodeId a = kNoNode, b = kNoNode;
  std::uint64_t weight = 0;  // frequency of the block
};

// The edges found while building stand in a compressed graph that copies of a FileGraph share (each attempt to colour works on
// a copy); those that coalescing adds stand beside it.
class FileGraph {
 public:
  using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property, boost::no_property,
                                                   NodeId, std::size_t>;

  // --- building
  NodeId add_node(TempId temp, const Temp& t);
  void finish_nodes();                // all nodes are there: makes room for edges
  void add_edge(NodeId a, NodeId b);  // both ways, once; requires neither fixed
  void finish_edges();                // all edges are there: from here on only merge adds some
  void forbid(NodeId n, const UnitSet& units) { forbidden_[n] |= units; }
  void add_copy(NodeId a, NodeId b, std::uint64_t weight) { copies_.push_back({a, b, weight}); }
  void add_hint(NodeId a, NodeId b) { hints_.push_back({a, b, 0}); }
  void add_cost(NodeId n, std::uint64_t cost) {  // also says that the node can be spilled
    is_spillable_[n] = 1;
    cost_[n] = std::min(kInfiniteCost - 1, cost_[n] + std::min(cost, kInfiniteCost));
  }
  void note_pressure(int units) { max_live_ = std::max(max_live_, units); }

  // --- reading
  [[nodiscard]] std::size_t size() const { return temp_.size(); }
  [[nodiscard]] TempId temp(NodeId n) const { return temp_[n]; }
  [[nodiscard]] int units(NodeId n) const { return units_[n]; }
  [[nodiscard]] int align_log2(NodeId n) const { return align_log2_[n]; }
  [[nodiscard]] ir::PReg fixed(NodeId n) const { return fixed_[n]; }
  [[nodiscard]] bool is_fixed(NodeId n) const { return fixed_[n].is_valid(); }
  [[nodiscard]] const UnitSet& forbidden(NodeId n) const { return forbidden_[n]; }
  // In [0, kInfiniteCost]; infinite where no member can be spilled, else the sum of those that can.
  [[nodiscard]] std::uint64_t cost(NodeId n) const { return is_spillable_[n] ? cost_[n] : kInfiniteCost; }
  [[nodiscard]] bool is_spillable(NodeId n) const { return is_spillable_[n] != 0; }
  [[nodiscard]] const std::vector<CopyPair>& copies() const { return copies_; }
  [[nodiscard]] const std::vector<CopyPair>& hints() const { return hints_; }
  [[nodiscard]] int max_live() const { return max_live_; }  // units live at the worst point
  // The node that a coalesced node has become; itself for all others.
  [[nodiscard]] NodeId find(NodeId n) const {
    while (merged_into_[n] != n) n = merged_into_[n];
    return n;
  }
  [[nodiscard]] bool is_merged(NodeId n) const { return merged_into_[n] != n; }
  // Calls f for each node that has become n, and for n itself. Requires n not merged.
  template <class F>
  void for_members(NodeId n, F&& f) const {
    NodeId m = n;
    do {
      f(m);
      m = next_member_[m];
    } while (m != n);
  }
  // Cost O(neighbours of the one that has fewer). Requires neither merged nor fixed.
  [[nodiscard]] bool has_edge(NodeId a, NodeId b) const;
  // Requires both not merged.
  [[nodiscard]] bool interferes(NodeId a, NodeId b) const;
  // Calls f for each neighbour that is neither merged nor fixed.
  template <class F>
  void for_neighbours(NodeId n, F&& f) const {
    for (auto [it, end] = boost::adjacent_vertices(n, base_->graph); it != end; ++it)
      if (!is_absent_[*it]) f(*it);
    for (std::uint32_t e = first_added_[n]; e != kNoEdge; e = added_[e].next)
      if (!is_absent_[added_[e].to]) f(added_[e].to);
  }
  [[nodiscard]] int worst(NodeId n, NodeId neighbour) const { return worst_of(shape_[n], shape_[neighbour]); }
  [[nodiscard]] UnitSet positions(NodeId n, const UnitSet& available) const {
    return (available - forbidden_[n]).positions(units_[n], align_log2_[n]);
  }
  // Number of edges before anything was merged.
  [[nodiscard]] std::size_t num_built_edges() const { return boost::num_edges(base_->graph) / 2; }
  // The sum of worst(n, m) over the neighbours m. Kept up to date by merge. Requires n neither merged nor fixed.
  [[nodiscard]] int squeeze(NodeId n) const { return squeeze_[n]; }

  // --- coalescing. Requires both not merged, not interfering, equally many units, and at most one of them fixed.
  // `gone` becomes a part of `kept`, which takes on the stricter alignment, and gone's register where gone is fixed.
  // Cost O(neighbours of the two).
  void merge(NodeId kept, NodeId gone);

 private:
  [[nodiscard]] std::uint8_t shape_of(int units, int align_log2);
  void fill_worst();
  [[nodiscard]] int worst_of(std::size_t shape, std::size_t neighbour) const { return worst_[shape * shapes_.size() + neighbour]; }
  [[nodiscard]] int added_up_squeeze(NodeId n) const;
  void append(NodeId n, NodeId to);

  static constexpr std::uint32_t kNoEdge = 0xFFFFFFFFu;
  struct AddedEdge {
    NodeId to;
    std::uint32_t next;  // of the same node
  };
  struct Shape {
    int units, align_log2;
  };
  struct Base {
    explicit Base(std::size_t nodes) : edges(nodes) {}
    Graph graph;
    EdgeSet edges;                                // while building
    std::vector<std::pair<NodeId, NodeId>> list;  // both ways; empty once the graph is made of it
  };
  std::shared_ptr<Base> base_;
  std::vector<AddedEdge> added_;
  std::vector<std::uint32_t> first_added_, last_added_;  // by node, into added_
  std::vector<std::uint8_t> is_absent_;                  // merged or fixed: nobody's neighbour
  std::vector<int> squeeze_;
  std::vector<NodeId>
      marked_for_;  // scratch of merge: neighbours of the kept node are marked with the gone one, which goes only once
  std::vector<TempId> temp_;
  std::vector<std::uint8_t> units_, align_log2_, shape_;
  std::vector<ir::PReg> fixed_;
  std::vector<UnitSet> forbidden_;
  std::vector<std::uint64_t> cost_;
  std::vector<std::uint8_t> is_spillable_;
  std::vector<NodeId> merged_into_, next_member_;
  std::vector<CopyPair> copies_, hints_;
  std::vector<Shape> shapes_;
  std::vector<int> worst_;
  int max_live_ = 0;
};

struct InterferenceGraphs {
  ir::PerFile<FileGraph> files;
  std::vector<NodeId> node_of;        // by temp; kNoNode for temps that nothing refers to
  std::vector<std::uint8_t> is_dead;  // by index of Code::insts: a copy that nobody reads
};

// Operands of a ret are kept out of the callee-saved registers, which hold the caller's values again there.
// Costs and hints are not filled in here (spill.h). Cost O(refs x live temps + edges).
[[nodiscard]] InterferenceGraphs build_interference_graphs(const ir::Function& f, const Lowering& lowering, const Code& code,
                                                           const Liveness& liveness);

}  // namespace regduel::reference
