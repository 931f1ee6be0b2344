// The interference graph of one register file: nodes, the edges between them, the units that are forbidden to each node, and
// copies.
//
// Degrees are those of Smith, Ramsey and Holloway (2004) for irregular files: `worst(a, b)` is the number of aligned positions
// of a node of shape a that one node of shape b can block; the *squeeze* of a node is the sum of that over its neighbours, and
// a node is trivially colourable where the squeeze is below the number of its positions. A precoloured node has no edges: its units
// are *forbidden* to all that it interferes with. Tested by file_graph_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "base/large_vector.h"
#include "ir/unit_set.h"
#include "reference/program/code.h"

namespace regduel::reference {

using ir::UnitSet;

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xFFFFFFFFu;

// The cost of local temps and precoloured nodes, above that of any number of refills.
inline constexpr std::uint64_t kInfiniteCost = std::uint64_t{1} << 43;

struct CopyPair {
  NodeId a = kNoNode, b = kNoNode;
  std::uint64_t weight = 0;  // frequency of the block
};

// Each attempt to colour coalesces a copy of the graph. All copies share the edges found while building; each keeps those that its
// coalescing adds beside them.
class FileGraph {
 public:
  // --- building: nodes, then finish_nodes(), then edges, then finish()
  void reserve_nodes(std::size_t nodes);
  NodeId add_node(TempId temp, const Temp& t);
  void finish_nodes();
  // Adds an edge between a and each b, both ways, unless it is there already. Requires that no node is fixed.
  void add_edges(NodeId a, std::span<const NodeId> bs);
  void add_edge(NodeId a, NodeId b) {
    if (!has_matrix_ || (is_there_[row_begin(std::max(a, b)) + std::min(a, b) / 64] >> (std::min(a, b) % 64) & 1) == 0)
      add_edges(a, {&b, 1});
  }
  void finish();
  void forbid(NodeId n, const UnitSet& units) {
    std::uint32_t& at = nodes_[n].forbidden;
    if (at == 0) {
      at = static_cast<std::uint32_t>(forbidden_.size());
      forbidden_.emplace_back();
    }
    forbidden_[at] |= units;
  }
  void add_copy(NodeId a, NodeId b, std::uint64_t weight) { copies_.push_back({a, b, weight}); }
  void add_hint(NodeId a, NodeId b) { hints_.push_back({a, b, 0}); }
  void add_cost(NodeId n, std::uint64_t cost) {  // also says that the node can be spilled
    nodes_[n].is_spillable = true;
    nodes_[n].cost = std::min(kInfiniteCost - 1, nodes_[n].cost + std::min(cost, kInfiniteCost));
  }
  void set_cost(NodeId n, std::uint64_t cost) { nodes_[n].cost = std::min(kInfiniteCost - 1, cost); }
  void note_pressure(int units) { max_live_ = std::max(max_live_, units); }
  // Nodes most of which interfere with each other. finish() makes a clique of some that all do.
  std::vector<NodeId>& crowd() { return crowd_; }

  // --- reading
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] TempId temp(NodeId n) const { return nodes_[n].temp; }
  [[nodiscard]] int units(NodeId n) const { return nodes_[n].units; }
  [[nodiscard]] int align_log2(NodeId n) const { return nodes_[n].align_log2; }
  [[nodiscard]] ir::PReg fixed(NodeId n) const { return nodes_[n].fixed; }
  [[nodiscard]] bool is_fixed(NodeId n) const { return nodes_[n].fixed.is_valid(); }
  [[nodiscard]] const UnitSet& forbidden(NodeId n) const { return forbidden_[nodes_[n].forbidden]; }
  // In [0, kInfiniteCost]; infinite where no member can be spilled, else the sum of those that can.
  [[nodiscard]] std::uint64_t cost(NodeId n) const { return is_spillable(n) ? nodes_[n].cost : kInfiniteCost; }
  [[nodiscard]] bool is_spillable(NodeId n) const { return nodes_[n].is_spillable; }
  // By descending weight once finish() was called.
  [[nodiscard]] const std::vector<CopyPair>& copies() const { return copies_; }
  [[nodiscard]] const std::vector<CopyPair>& hints() const { return hints_; }
  [[nodiscard]] int max_live() const { return max_live_; }  // units live at the worst point
  // The units of a clique. No colouring has fewer, whatever is coalesced before.
  [[nodiscard]] int clique_units() const { return clique_units_; }
  // The same of a clique with n whose members may stand only where n may. Cost O(edges). Requires nothing merged, n not fixed.
  [[nodiscard]] int confined_clique_units(NodeId n) const;
  // The node into which a coalesced node was merged; a node that was not merged is its own. Cost O(merges on its way there), O(1)
  // after flatten().
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
  // Calls f for each node that has or had an edge to n, with merged and fixed ones among them.
  template <class F>
  void for_listed(NodeId n, F&& f) const {
    for (const NodeId m : edges_->of(n)) f(m);
    // By index, as merge appends to the lists of other nodes on the way.
    for (std::uint32_t e = nodes_[n].first_added; e != kNoEdge; e = added_[e].next)
      for (std::uint32_t k = 0; k < added_[e].size; ++k) f(added_[e].to[k]);
  }
  // Calls f for each neighbour that is neither merged nor fixed.
  template <class F>
  void for_neighbours(NodeId n, F&& f) const {
    for_listed(n, [&](NodeId m) {
      if (!is_absent_[m]) f(m);
    });
  }
  // Whether f is true for a neighbour. Stops at the first.
  template <class F>
  bool any_neighbour(NodeId n, F&& f) const {
    for (const NodeId m : edges_->of(n))
      if (!is_absent_[m] && f(m)) return true;
    for (std::uint32_t e = nodes_[n].first_added; e != kNoEdge; e = added_[e].next)
      for (const NodeId m : added_[e].nodes())
        if (!is_absent_[m] && f(m)) return true;
    return false;
  }
  // Number of edges before anything was merged.
  [[nodiscard]] std::size_t num_built_edges() const { return edges_->begin.back() / 2; }
  // The shape of a node: an index below num_shapes().
  [[nodiscard]] std::size_t shape(NodeId n) const { return nodes_[n].shape; }
  [[nodiscard]] std::size_t num_shapes() const { return shapes_.size(); }
  // Orders shapes: by units, then by alignment.
  [[nodiscard]] int width(std::size_t shape) const { return shapes_[shape].units << 8 | 1 << shapes_[shape].align_log2; }
  // By the shape of the node that is blocked: how many positions a node of `shape` blocks at worst.
  [[nodiscard]] const int* worst_by(std::size_t shape) const { return &worst_[shape * shapes_.size()]; }
  [[nodiscard]] int worst(NodeId n, NodeId neighbour) const { return worst_by(nodes_[neighbour].shape)[nodes_[n].shape]; }
  [[nodiscard]] UnitSet positions(NodeId n, const UnitSet& available) const {
    return (available - forbidden(n)).positions(nodes_[n].units, nodes_[n].align_log2);
  }
  // Whether any unit is forbidden to the node.
  [[nodiscard]] bool is_restricted(NodeId n) const { return nodes_[n].forbidden != 0; }
  // How many positions there are, for each shape of a node to which nothing is forbidden.
  [[nodiscard]] std::vector<int> free_positions(const UnitSet& available) const;
  // = positions(n, available).count(), where free = free_positions(available).
  [[nodiscard]] int count_positions(NodeId n, const UnitSet& available, const std::vector<int>& free) const {
    return is_restricted(n) ? count_restricted_positions(n, available) : free[nodes_[n].shape];
  }
  // The sum of worst(n, m) over the neighbours m. Kept up to date by merge. Requires n neither merged nor fixed.
  [[nodiscard]] int squeeze(NodeId n) const { return nodes_[n].squeeze; }

  // --- coalescing. Requires both not merged, not interfering, equally many units, and at most one of them fixed.
  // `gone` becomes a part of `kept`, which takes on the stricter alignment, and gone's register where gone is fixed.
  // Cost O(neighbours of the two).
  void merge(NodeId kept, NodeId gone);
  // To be called after all merges. From then on find() costs O(1). Cost O(nodes).
  void flatten();

 private:
  static constexpr std::uint32_t kNoEdge = 0xFFFFFFFFu;
  struct Node {
    TempId temp = 0;
    std::uint8_t units = 1, align_log2 = 0, shape = 0;
    bool is_spillable = false;
    ir::PReg fixed;
    std::uint32_t forbidden = 0;  // into forbidden_
    int squeeze = 0;
    std::uint64_t cost = 0;
    NodeId merged_into = kNoNode, next_member = kNoNode;
    std::uint32_t first_added = kNoEdge, last_added = kNoEdge;  // into added_
  };
  // Some of the edges of one node, in the order in which they came. They fill a cache line, because these lists are walked often.
  struct AddedEdges {
    std::array<NodeId, 14> to;
    std::uint32_t size;
    std::uint32_t next;  // of the same node, into added_
    [[nodiscard]] std::span<const NodeId> nodes() const { return {to.data(), size}; }
  };
  // By node, each in the order in which its first edge was found.
  struct Edges {
    std::vector<std::uint32_t> begin;  // those of node n: [begin[n], begin[n + 1])
    LargeVector<NodeId> to;
    [[nodiscard]] std::span<const NodeId> of(NodeId n) const { return {to.data() + begin[n], to.data() + begin[n + 1]}; }
    void drop_duplicates();  // keeps of each edge the first time that it is listed
  };
  // Edges in the order in which they were found, as runs from one node: the node, how many, and to which. In pieces, so that what
  // is there stays where it is.
  class FoundEdges {
   public:
    // Where to write at most `most` nodes; take() says from which node the edges are, and how many there are.
    NodeId* room(std::size_t most) {
      if (pieces_.empty() || pieces_.back().data.size() - pieces_.back().size < most + 2)
        pieces_.emplace_back().data.resize(std::max(most + 2, std::clamp(num_edges_, kLeastPiece, kMostPiece)));
      return pieces_.back().data.data() + pieces_.back().size + 2;
    }
    void take(NodeId from, std::size_t edges) {
      if (edges == 0) return;
      Piece& p = pieces_.back();
      p.data[p.size] = from;
      p.data[p.size + 1] = static_cast<NodeId>(edges);
      p.size += edges + 2;
      num_edges_ += edges;
    }
    [[nodiscard]] std::size_t num_edges() const { return num_edges_; }
    // f(node, nodes that it has edges to) for each run.
    template <class F>
    void for_each(F&& f) const {
      for (const Piece& p : pieces_)
        for (std::size_t k = 0; k < p.size; k += p.data[k + 1] + 2) f(p.data[k], std::span(&p.data[k + 2], p.data[k + 1]));
    }
    // Keeps those edges for which keep() is true, asked in their order.
    template <class Keep>
    void filter(Keep&& keep);

   private:
    static constexpr std::size_t kLeastPiece = 2048, kMostPiece = std::size_t{1} << 20;
    struct Piece {
      LargeVector<NodeId> data;
      std::size_t size = 0;  // of data, what is in use
    };
    std::vector<Piece> pieces_;
    std::size_t num_edges_ = 0;
  };
  struct Shape {
    int units, align_log2;
  };
  [[nodiscard]] std::uint8_t shape_of(int units, int align_log2);
  void fill_worst();
  void drop_duplicates();
  [[nodiscard]] int clique_units(std::span<const NodeId> crowd) const;
  void gather_edges();
  void find_squeezes();
  [[nodiscard]] int count_restricted_positions(NodeId n, const UnitSet& available) const;
  [[nodiscard]] int added_up_squeeze(NodeId n) const;
  void append(NodeId n, NodeId to);

  std::vector<Node> nodes_;
  std::vector<UnitSet> forbidden_ = std::vector<UnitSet>(1);  // the first is that of all nodes to which nothing is forbidden
  std::vector<std::uint8_t> is_absent_;                       // merged or fixed: no neighbour of any node
  std::vector<AddedEdges> added_;
  std::vector<NodeId> marked_for_;  // scratch of merge: neighbours of the kept node are marked with the gone one
  std::vector<CopyPair> copies_, hints_;
  std::vector<Shape> shapes_;
  static constexpr int kAlignments = 9;                           // align_log2 in [0, 8]
  std::array<std::uint8_t, 64 * kAlignments> shape_plus_1_ = {};  // by units and alignment; 0 = none so far
  std::vector<int> worst_;
  int max_live_ = 0, clique_units_ = 0;
  std::vector<NodeId> crowd_;
  // While building: the edges in the order in which they were found. In a graph of up to kMatrixNodes each is there once, as the
  // matrix of bits shows (64 MiB at most): a row for each node, of the nodes up to itself; each has an edge to itself. Nearly all
  // that lives where a node is defined has a lower number, so that a def asks one row. In a larger graph some edges are there
  // twice until their lists are made.
  static constexpr std::size_t kMatrixNodes = 32768;
  // Rows are whole words: 64 of one word, then 64 of two.
  [[nodiscard]] static std::size_t row_begin(std::size_t n) { return (n / 64 + 1) * (32 * (n / 64) + n % 64); }
  FoundEdges found_;
  std::size_t num_distinct_ = std::size_t{1} << 23;  // without a matrix: once twice as many were found, duplicates are dropped
  LargeVector<std::uint64_t> is_there_;
  bool has_matrix_ = false;
  std::vector<std::uint32_t> degree_;  // by node, with a matrix
  std::shared_ptr<const Edges> edges_;
};

}  // namespace regduel::reference
