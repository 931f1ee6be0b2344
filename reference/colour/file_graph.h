// The interference graph of one register file: nodes, the edges between them, what each node may not stand in, and copies.
//
// Degrees are those of Smith, Ramsey and Holloway (2004) for irregular files: `worst(a, b)` is the number of aligned positions
// of a node of shape a that one node of shape b can block; the *squeeze* of a node is the sum of that over its neighbours, and
// a node is trivially colourable where the squeeze is below the number of its positions. A precoloured node has no edges: its units
// are *forbidden* to all that it interferes with. Tested by file_graph_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/grouped.h"
#include "reference/code.h"
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

// Each attempt to colour coalesces a copy of the graph. Copies share the edges found while building; those that coalescing adds
// stand beside them.
class FileGraph {
 public:
  // --- building: nodes, then finish_nodes(), then edges, then finish()
  NodeId add_node(TempId temp, const Temp& t);
  void finish_nodes();
  // Both ways; what is there already counts once. Requires neither fixed.
  void add_edge(NodeId a, NodeId b) {
    if (a == b) return;
    if (row_words_ > 0) {
      std::uint64_t& word = is_there_[a * row_words_ + b / 64];
      const std::uint64_t bit = std::uint64_t{1} << (b % 64);
      if (word & bit) return;
      word |= bit;
      is_there_[b * row_words_ + a / 64] |= std::uint64_t{1} << (a % 64);
    }
    if (num_found_ == found_.size()) make_room();
    found_[num_found_++] = {a, b};
  }
  void finish();
  void forbid(NodeId n, const UnitSet& units) {
    forbidden_[n] |= units;
    nodes_[n].is_restricted = true;
  }
  void add_copy(NodeId a, NodeId b, std::uint64_t weight) { copies_.push_back({a, b, weight}); }
  void add_hint(NodeId a, NodeId b) { hints_.push_back({a, b, 0}); }
  void add_cost(NodeId n, std::uint64_t cost) {  // also says that the node can be spilled
    nodes_[n].is_spillable = true;
    nodes_[n].cost = std::min(kInfiniteCost - 1, nodes_[n].cost + std::min(cost, kInfiniteCost));
  }
  void note_pressure(int units) { max_live_ = std::max(max_live_, units); }
  // Nodes that may well interfere with each other, all of them: finish() makes a clique of those that do. The last call counts.
  std::vector<NodeId>& crowd() { return crowd_; }

  // --- reading
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] TempId temp(NodeId n) const { return nodes_[n].temp; }
  [[nodiscard]] int units(NodeId n) const { return nodes_[n].units; }
  [[nodiscard]] int align_log2(NodeId n) const { return nodes_[n].align_log2; }
  [[nodiscard]] ir::PReg fixed(NodeId n) const { return nodes_[n].fixed; }
  [[nodiscard]] bool is_fixed(NodeId n) const { return nodes_[n].fixed.is_valid(); }
  [[nodiscard]] const UnitSet& forbidden(NodeId n) const { return forbidden_[n]; }
  // In [0, kInfiniteCost]; infinite where no member can be spilled, else the sum of those that can.
  [[nodiscard]] std::uint64_t cost(NodeId n) const { return is_spillable(n) ? nodes_[n].cost : kInfiniteCost; }
  [[nodiscard]] bool is_spillable(NodeId n) const { return nodes_[n].is_spillable; }
  // By descending weight once finish() was called.
  [[nodiscard]] const std::vector<CopyPair>& copies() const { return copies_; }
  [[nodiscard]] const std::vector<CopyPair>& hints() const { return hints_; }
  [[nodiscard]] int max_live() const { return max_live_; }  // units live at the worst point
  // Units of some nodes that interfere with each other, all of them: no colouring has fewer, whatever is coalesced before.
  [[nodiscard]] int clique_units() const { return clique_units_; }
  // The node that a coalesced node has become; itself for all others.
  [[nodiscard]] NodeId find(NodeId n) const {
    while (nodes_[n].merged_into != n) n = nodes_[n].merged_into;
    return n;
  }
  [[nodiscard]] bool is_merged(NodeId n) const { return nodes_[n].merged_into != n; }
  // Calls f for each node that has become n, and for n itself. Requires n not merged.
  template <class F>
  void for_members(NodeId n, F&& f) const {
    NodeId m = n;
    do {
      f(m);
      m = nodes_[m].next_member;
    } while (m != n);
  }
  // Cost O(neighbours of the one that has fewer). Requires neither merged nor fixed.
  [[nodiscard]] bool has_edge(NodeId a, NodeId b) const;
  // Requires both not merged.
  [[nodiscard]] bool interferes(NodeId a, NodeId b) const;
  // Calls f for each node that has or had an edge to n: merged and fixed ones are among them.
  template <class F>
  void for_listed(NodeId n, F&& f) const {
    for (const NodeId m : (*edges_)[n]) f(m);
    for (std::uint32_t e = nodes_[n].first_added; e != kNoEdge; e = added_[e].next) f(added_[e].to);
  }
  // Calls f for each neighbour that is neither merged nor fixed.
  template <class F>
  void for_neighbours(NodeId n, F&& f) const {
    for_listed(n, [&](NodeId m) {
      if (!is_absent_[m]) f(m);
    });
  }
  // Number of edges before anything was merged.
  [[nodiscard]] std::size_t num_built_edges() const { return edges_->items().size() / 2; }
  // The shape of a node: an index below num_shapes().
  [[nodiscard]] std::size_t shape(NodeId n) const { return nodes_[n].shape; }
  [[nodiscard]] std::size_t num_shapes() const { return shapes_.size(); }
  // Orders shapes: by units, then by alignment.
  [[nodiscard]] int width(std::size_t shape) const { return shapes_[shape].units << 8 | 1 << shapes_[shape].align_log2; }
  // By the shape of the node that is blocked: how many positions a node of `shape` blocks at worst.
  [[nodiscard]] const int* worst_by(std::size_t shape) const { return &worst_[shape * shapes_.size()]; }
  [[nodiscard]] int worst(NodeId n, NodeId neighbour) const { return worst_by(nodes_[neighbour].shape)[nodes_[n].shape]; }
  [[nodiscard]] UnitSet positions(NodeId n, const UnitSet& available) const {
    return (available - forbidden_[n]).positions(nodes_[n].units, nodes_[n].align_log2);
  }
  // False: nothing is forbidden to it.
  [[nodiscard]] bool is_restricted(NodeId n) const { return nodes_[n].is_restricted; }
  // How many positions there are, for each shape of a node to which nothing is forbidden.
  [[nodiscard]] std::vector<int> free_positions(const UnitSet& available) const;
  // = positions(n, available).count(), where free = free_positions(available).
  [[nodiscard]] int count_positions(NodeId n, const UnitSet& available, const std::vector<int>& free) const {
    return nodes_[n].is_restricted ? positions(n, available).count() : free[nodes_[n].shape];
  }
  // The sum of worst(n, m) over the neighbours m. Kept up to date by merge. Requires n neither merged nor fixed.
  [[nodiscard]] int squeeze(NodeId n) const { return nodes_[n].squeeze; }

  // --- coalescing. Requires both not merged, not interfering, equally many units, and at most one of them fixed.
  // `gone` becomes a part of `kept`, which takes on the stricter alignment, and gone's register where gone is fixed.
  // Cost O(neighbours of the two).
  void merge(NodeId kept, NodeId gone);

 private:
  static constexpr std::uint32_t kNoEdge = 0xFFFFFFFFu;
  struct Node {
    TempId temp = 0;
    std::uint8_t units = 1, align_log2 = 0, shape = 0;
    bool is_spillable : 1 = false;
    bool is_restricted : 1 = false;  // something may be forbidden to it
    ir::PReg fixed;
    int squeeze = 0;
    std::uint64_t cost = 0;
    NodeId merged_into = kNoNode, next_member = kNoNode;
    std::uint32_t first_added = kNoEdge, last_added = kNoEdge;  // into added_
  };
  struct Edge {
    NodeId a, b;
  };
  struct AddedEdge {
    NodeId to;
    std::uint32_t next;  // of the same node
  };
  struct Shape {
    int units, align_log2;
  };
  [[nodiscard]] std::uint8_t shape_of(int units, int align_log2);
  void fill_worst();
  void make_room();
  void drop_duplicates();
  void find_clique();
  [[nodiscard]] int added_up_squeeze(NodeId n) const;
  void append(NodeId n, NodeId to);

  std::vector<Node> nodes_;
  std::vector<UnitSet> forbidden_;
  std::vector<std::uint8_t> is_absent_;  // merged or fixed: no neighbour of any node
  std::vector<AddedEdge> added_;
  std::vector<NodeId> marked_for_;  // scratch of merge: neighbours of the kept node are marked with the gone one
  std::vector<CopyPair> copies_, hints_;
  std::vector<Shape> shapes_;
  std::vector<int> worst_;
  int max_live_ = 0, clique_units_ = 0;
  std::vector<NodeId> crowd_;
  // While building: the edges in the order in which they were found. In a graph of up to kMatrixNodes each is there once, as a
  // matrix of bits shows (8 MB at most); in a larger one some are there twice.
  static constexpr std::size_t kMatrixNodes = 8192;
  std::vector<Edge> found_;  // [0, num_found_)
  std::size_t num_found_ = 0;
  std::vector<std::uint64_t> is_there_;
  std::size_t row_words_ = 0;
  std::shared_ptr<const Grouped<NodeId>> edges_;  // by node, each in the order in which its first edge was found
};

}  // namespace regduel::reference
