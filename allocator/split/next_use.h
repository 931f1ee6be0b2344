// Next-use distances: from a point to the next use of a value, along the nearest path; and how often the refills for these uses run.
//
// Distances count instructions; an edge that leaves a loop counts kLeavesLoop for each level, so that uses in the loop come before
// uses behind it. Only *candidates* have distances: vregs that may be split. A use is a read of bytes that some def reaches, or a
// guarded def or a def of a part that keeps old bytes; any other def ends the search.
//
// Source: Belady, "A study of replacement algorithms", 1966; Braun and Hack, "Register Spilling and Live-Range Splitting for
// SSA-Form Programs", 2009. Tested by next_use_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "base/grouped.h"
#include "ir/cfg.h"

namespace regduel::allocator {

// Vregs that may be split, by a dense number: first the *global* ones, whose values cross an edge.
struct SplitCandidates {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  std::vector<ir::VRegId> vregs;
  std::vector<std::uint32_t> number_of;  // by vreg; kNone = it is no candidate
  std::size_t num_global = 0;

  [[nodiscard]] std::size_t size() const { return vregs.size(); }
  [[nodiscard]] std::uint32_t operator[](ir::VRegId v) const { return number_of[v.index()]; }
};

// True if an operand needs a value that its vreg held before the instruction.
[[nodiscard]] bool needs_old_value(const ir::Function& f, const Liveness& live, const ir::Inst& inst, std::size_t operand);
// True of a def that needs no such value.
[[nodiscard]] bool is_new_value(const ir::Function& f, const Liveness& live, const ir::Inst& inst, std::size_t operand);
// True of a new value that may stand in another register than the old one did. Guarded defs and defs of parts may not, because they
// hold their register from the moment at which uses are read.
[[nodiscard]] bool begins_piece(const ir::Function& f, const Liveness& live, const ir::Inst& inst, std::size_t operand);

// By block.
struct BlockWeights {
  std::span<const std::int64_t> frequency;  // how often it runs
  std::span<const int> loop_depth;
};

class NextUse {
 public:
  static constexpr std::int32_t kNever = 0x3FFFFFFF;
  static constexpr std::int32_t kLeavesLoop = 1 << 20;

  // A global candidate that is live at the head of a block: some def reaches it there, and a use follows.
  struct AtHead {
    std::uint32_t candidate = 0;
    std::int32_t distance = kNever;  // 1 = the first instruction
    // About how often refills run for the uses behind the head, if the value is in memory there: at the head, or at the first uses,
    // whichever is executed less often.
    std::int64_t fewest_refills = 0;
  };

  // Cost: O(occurrences + the live global candidates at the heads of all blocks), and as much memory. Candidates that live around
  // loops are looked at some times more.
  NextUse(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const SplitCandidates& candidates,
          const BlockWeights& weights);

  // The distance from behind the instruction with this number; 1 = the next instruction. kNever if the value is dead.
  [[nodiscard]] std::int32_t behind(std::uint32_t candidate, std::uint32_t number) const;
  // By ascending candidate.
  [[nodiscard]] std::span<const AtHead> live_at_head(ir::BlockId block) const { return heads_[block.index()]; }
  // Visits the candidates that are live at the head of a block and that some def reaches at the end of a reachable predecessor, ascending.
  template <class Visit>
  void for_each_on_edge(ir::BlockId from, ir::BlockId to, Visit visit) const {
    auto end = ends_[from.index()].begin();
    for (const AtHead& head : heads_[to.index()]) {
      while (end->candidate != head.candidate) ++end;
      if (end->is_reached) visit(head.candidate);
    }
  }
  // Numbers of a block's first and last instruction.
  [[nodiscard]] std::uint32_t first(std::size_t block) const { return first_[block]; }
  [[nodiscard]] std::uint32_t last(std::size_t block) const { return last_[block]; }

 private:
  // A read of an old value, a write, or both.
  struct Occurrence {
    std::uint32_t number = 0;
    bool reads = false, writes = false;
  };
  // A global candidate that is live at the head of a successor.
  struct AtEnd {
    std::uint32_t candidate = 0;
    std::int32_t distance = kNever;  // from behind the last instruction
    bool is_reached = false;         // by some def
  };
  class OneCandidate;

  void find_occurrences(const ir::Function& f, const ir::Cfg& cfg, const SplitCandidates& candidates);

  const Liveness& live_;
  std::size_t num_global_;
  std::vector<std::uint32_t> first_, last_;  // by block
  Grouped<Occurrence> occurrences_;          // by candidate, ascending
  // By block:
  Grouped<AtHead> heads_;
  Grouped<AtEnd> ends_;
};

}  // namespace regduel::allocator
