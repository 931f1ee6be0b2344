// Next-use distances: from a point to the next use of a value, along the nearest path; and how often the refills for these uses run.
//
// Distances count instructions; an edge that leaves a loop counts kLeavesLoop for each level, so that uses in the loop come before
// uses behind it. Only *candidates* have distances: vregs that may be split. A use is a read of bytes that some def reaches, or a
// guarded def or a def of a part that keeps old bytes; any other def ends the search.
//
// Source: Belady, "A study of replacement algorithms", 1966; Braun and Hack, "Register Spilling and Live-Range Splitting for
// SSA-Form Programs", 2009. Tested by next_use_test.cpp.
#pragma once

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

  // Cost: O(occurrences + blocks x global candidates x a few), and as much memory.
  NextUse(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const SplitCandidates& candidates,
          const BlockWeights& weights);

  // The distance from behind the instruction with this number; 1 = the next instruction. kNever if the value is dead.
  [[nodiscard]] std::int32_t behind(std::uint32_t candidate, std::uint32_t number) const;
  // The following functions require global candidates. The others are neither live nor reached at any head or end.
  //
  // The distance from the head of a block (its index); 1 = its first instruction.
  [[nodiscard]] std::int32_t at_head(std::uint32_t candidate, std::size_t block) const { return head_[block * size_ + candidate]; }
  [[nodiscard]] bool is_live_at_head(std::uint32_t candidate, std::size_t block) const {
    return at_head(candidate, block) < kNever && is_reached_[block * size_ + candidate] != 0;
  }
  // All of those, ascending.
  [[nodiscard]] std::span<const std::uint32_t> live_at_head(std::size_t block) const { return live_at_head_[block]; }
  // Some def reaches the end of the block.
  [[nodiscard]] bool is_reached_at_end(std::uint32_t candidate, std::size_t block) const {
    return is_reached_[block * size_ + candidate] != 0 || writes_[block * size_ + candidate] != 0;
  }
  // Its head, by global candidate: 1 = some def does.
  [[nodiscard]] std::span<const char> reached_at_head(std::size_t block) const {
    return {is_reached_.data() + block * size_, size_};
  }
  // About how often refills run for the uses behind the head of a block, if the value is in memory there: at the head, or at the first
  // uses, whichever is executed less often.
  [[nodiscard]] std::int64_t fewest_refills(std::uint32_t candidate, std::size_t block) const {
    return fewest_refills_[block * size_ + candidate];
  }
  // Numbers of a block's first and last instruction.
  [[nodiscard]] std::uint32_t first(std::size_t block) const { return first_[block]; }
  [[nodiscard]] std::uint32_t last(std::size_t block) const { return last_[block]; }

 private:
  struct Occurrence {
    std::uint32_t number = 0;
    bool reads = false;  // the old value
  };

  void find_occurrences(const ir::Function& f, const ir::Cfg& cfg, const SplitCandidates& candidates);
  void find_reached(const ir::Cfg& cfg);
  void find_distances(const ir::Cfg& cfg, std::span<const int> loop_depth);
  void find_refills(const ir::Cfg& cfg, std::span<const std::int64_t> frequency);
  void list_live();

  const Liveness& live_;
  std::size_t size_;                         // global candidates
  std::vector<std::uint32_t> first_, last_;  // by block
  Grouped<Occurrence> occurrences_;          // by candidate, ascending
  // By block and global candidate:
  std::vector<std::int32_t> local_;  // what comes first in the block: the distance to a use, kNever for a new value, 0 = neither
  std::vector<std::int32_t> head_, tail_;
  std::vector<char> is_reached_, writes_;
  std::vector<std::int64_t> fewest_refills_;
  Grouped<std::uint32_t> live_at_head_;  // by block
};

}  // namespace regduel::allocator
