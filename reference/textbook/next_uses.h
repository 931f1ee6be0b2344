// Where each temp of a code is referred to next, in a given order of the blocks, and along the graph. Tested by textbook_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "reference/program/code.h"
#include "reference/program/liveness.h"

namespace regduel::reference {

class NextUses {
 public:
  static constexpr std::uint64_t kNever = std::uint64_t{1} << 36;
  static constexpr std::uint64_t kExit = 100'000;  // of a loop, in instructions

  //   order   of the reachable blocks
  NextUses(const Code& code, const Liveness& liveness, const std::vector<std::uint32_t>& order);

  // Queries are about what comes behind the instruction that was passed last, or from the head of the block.
  void begin(std::uint32_t block);
  void pass(std::uint32_t inst) { now_ = position_[inst]; }
  [[nodiscard]] std::uint64_t distance(TempId t) const;
  [[nodiscard]] std::uint64_t next_frequency(TempId t) const;
  // Requires that t is live there.
  [[nodiscard]] std::uint64_t at_head(std::uint32_t block, TempId t) const;

 private:
  struct Use {
    std::uint32_t position;
    std::uint64_t frequency;
  };
  void find_at_heads(const Liveness& liveness, const std::vector<std::uint32_t>& order);
  [[nodiscard]] const Use* next(TempId t) const;

  const Code& code_;
  const Liveness& liveness_;
  std::vector<std::uint32_t> position_;              // by instruction, in the order, from 1 on
  Grouped<Use> uses_;                                // by temp
  std::vector<std::vector<std::uint64_t>> at_head_;  // by block, parallel to what is live in
  std::vector<std::uint64_t> behind_;                // by temp, from the end of the block at hand; kNever where it is not live
  std::vector<TempId> behind_set_;
  std::uint32_t block_ = 0, now_ = 0, end_ = 0;
};

}  // namespace regduel::reference
