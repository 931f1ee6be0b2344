// Simplification: takes nodes off the graph one by one (seed 003, phase 4; Briggs, Cooper, Torczon 1994).
//
// A node whose squeeze is below the number of its positions goes first: whatever its neighbours get, something is left for it.
// Where there is none, a node goes in the hope that a colour is left all the same: the one with the least spill cost / squeeze
// where some node will have to be spilled, and the one with the least squeeze beyond its positions (the smallest-last order of
// Matula and Beck 1983) where a colouring of everything is looked for. Among trivially colourable nodes narrow ones go first, so
// that wide ones are coloured first. Tested by simplify_test.cpp, against a search through all nodes at each step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/colour/file_graph.h"

namespace regduel::reference {

enum class Optimism {
  CheapestFirst,  // the candidates for spilling come up last in selection
  SmallestLast,   // of equal ones, the one that got so far last
};

// Keeps its tables from call to call.
class Simplifier {
 public:
  // All nodes that are neither merged nor fixed, in the order in which they were taken off; valid until the next call. Cost
  // O(edges) and, for CheapestFirst, O(nodes x log nodes).
  const std::vector<NodeId>& order(const FileGraph& graph, const UnitSet& available, Optimism optimism);

 private:
  enum class State : std::uint8_t { Gone, High, Low };
  struct Node {
    int excess = 0;  // squeeze - positions: below 0 the node is trivially colourable
    int positions = 0;
    std::uint8_t shape = 0;
    State state = State::Gone;
  };

  // Trivially colourable nodes: the narrowest first, of these the lowest number. A bit set for each shape.
  class NarrowestFirst {
   public:
    void reset(const FileGraph& graph);
    void push(std::size_t shape, NodeId n);
    [[nodiscard]] bool is_empty() const { return size_ == 0; }
    NodeId pop();  // requires some node

   private:
    struct Level {
      int width = 0;
      std::size_t size = 0, first_word = 0;  // no bit is set before that word
      std::vector<std::uint64_t> bits;
    };
    std::size_t size_ = 0;
    std::vector<Level> levels_;          // by width
    std::vector<std::size_t> level_of_;  // by shape
  };

  // Nodes by excess: of each value a ring through its nodes, the one that came in last first. A link a node, and one a value.
  class LeastExcessFirst {
   public:
    void reset(std::size_t nodes, int greatest);
    // Takes the node from where it is, if it is anywhere, and puts it in front.
    void push(int excess, NodeId n) {
      remove(n);
      const auto head = static_cast<NodeId>(nodes_ + static_cast<std::size_t>(excess));
      const NodeId next = links_[head].next;
      links_[n] = {next, head};
      links_[next].previous = links_[head].next = n;
      least_ = std::min(least_, head);
    }
    void remove(NodeId n) {
      const Link link = links_[n];
      links_[link.previous].next = link.next;
      links_[link.next].previous = link.previous;
    }
    NodeId pop();  // requires some node

   private:
    struct Link {
      NodeId next, previous;
    };
    std::size_t nodes_ = 0;
    std::vector<Link> links_;  // by node, then the heads by excess
    NodeId least_ = 0;         // no ring before this head has a node
  };

  // cost / squeeze as a fraction. Removing neighbours only makes it larger, so that a stale entry of the heap comes out too early,
  // never too late.
  struct Candidate {
    std::uint64_t cost;
    std::uint64_t squeeze;
    NodeId node;

    friend bool operator>(const Candidate& a, const Candidate& b) {
      const std::uint64_t left = a.cost * b.squeeze, right = b.cost * a.squeeze;  // below 2^43 x 2^20
      return left != right ? left > right : a.node > b.node;
    }
  };
  [[nodiscard]] Candidate candidate(const FileGraph& graph, NodeId n) const;
  NodeId pop_cheapest(const FileGraph& graph);

  std::vector<Node> nodes_;
  NarrowestFirst low_;
  LeastExcessFirst least_;
  std::vector<Candidate> cheap_;  // a heap
  std::vector<NodeId> order_;
};

}  // namespace regduel::reference
