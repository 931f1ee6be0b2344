// The paths of the runs of the execution judge, edge by edge: towards edges that no run took yet. Edges are numbered as in
// Plan::edges.
//
// The goal of all runs together: each reachable edge is taken, and each back edge in two laps: twice in one run, without an entry
// of the loop in between, so that the next iteration reads what an iteration left behind. A back edge leads to a block at or before
// its own in the reverse postorder; each cycle has one. Tested by paths_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "oracles/before.h"
#include "oracles/execution/plan.h"

namespace regduel::oracles {

inline constexpr std::uint32_t kNoEdge = 0xFFFFFFFF;

// Properties of the edges of the program before.
struct EdgeKinds {
  // Cost: O(edges).
  explicit EdgeKinds(const Before& before);

  std::vector<ir::BlockId> from;
  std::vector<bool> is_back;
  std::vector<bool> is_early;  // an early exit: all that can be reached behind it is little, and much less than behind another edge
  std::vector<bool> is_reachable;  // there is a path to it from the entry
  std::size_t num_reachable = 0;
};

class Paths {
 public:
  Paths(const Plan& plan, const EdgeKinds& kinds);

  // `salt` decides between equally good edges. spreads: of equally good edges, the least taken one comes first.
  void begin_run(std::uint64_t salt, bool spreads);
  // The run begins anew, or goes on from an earlier point of its path: edges taken so far precede none of the following ones.
  void begin_stretch(std::uint32_t last, std::uint32_t last_but_one);

  // One of the edges of `at`, which has some: the one that makes three edges in a row that no run took yet comes first. An early
  // exit is taken once in a run.
  [[nodiscard]] std::uint32_t explore(ir::BlockId at);
  // The first edge of a shortest path to an edge that is still to be taken; kNoEdge where none can be reached from `at`. The path
  // does not go on behind an edge that the program after does not follow.
  [[nodiscard]] std::uint32_t seek(ir::BlockId at);
  // True if the step was new: three edges in a row that no run took yet, or an edge or a lap of the goal.
  bool take(std::uint32_t edge);

  [[nodiscard]] bool is_early(std::uint32_t edge) const { return kinds_.is_early[edge]; }
  // Edges that are still to be taken, or to be taken in another lap.
  [[nodiscard]] std::size_t num_left() const { return num_left_; }
  [[nodiscard]] std::size_t num_edges() const { return kinds_.num_reachable; }
  // Three edges in a row came in this run that were in no run before.
  [[nodiscard]] bool is_novel() const { return is_novel_; }
  // Edges that seek() looked at so far.
  [[nodiscard]] std::int64_t num_searched() const { return num_searched_; }
  // Of branches with more than one edge: those taken last, + 1; 0 = none yet.
  [[nodiscard]] std::uint32_t last() const { return last_; }
  [[nodiscard]] std::uint32_t last_but_one() const { return last_but_one_; }

 private:
  [[nodiscard]] std::uint64_t three_edges(std::uint32_t chosen) const;
  [[nodiscard]] bool is_known(std::uint64_t key) const { return (known_[key / 64 % known_.size()] >> key % 64 & 1) != 0; }
  [[nodiscard]] bool is_second_lap(std::uint32_t edge) const;
  void find_route(ir::BlockId at);

  const Plan& plan_;
  const EdgeKinds& kinds_;
  std::size_t num_left_ = 0;
  std::int64_t num_searched_ = 0;
  // Of edges, over all runs.
  std::vector<bool> is_done_;
  std::vector<std::uint32_t> times_;
  std::vector<std::uint64_t> known_;  // bits: edges taken one after another, three by three. Now and then one is known by mistake
  // In this run. Times are counted over all runs, from 1.
  std::uint64_t salt_ = 0;
  bool spreads_ = false, is_novel_ = false;
  std::uint32_t last_ = 0, last_but_one_ = 0;
  std::uint64_t now_ = 0, run_began_ = 0, stretch_began_ = 0;
  std::vector<std::uint64_t> taken_at_;    // each edge, last
  std::vector<std::uint64_t> entered_at_;  // each block, last, by an edge that is no back edge
  std::vector<std::uint32_t> visits_;      // of each block
  // The route of seek().
  std::vector<std::uint32_t> route_;                            // the next edge last
  std::uint32_t lap_ = kNoEdge;                                 // a back edge that is its end
  std::vector<std::uint32_t> reached_by_, reached_in_, queue_;  // of each block: the edge, and the search
  std::uint32_t search_ = 0;
};

}  // namespace regduel::oracles
