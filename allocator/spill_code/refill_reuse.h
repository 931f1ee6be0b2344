// Reuse of refilled values: a temporary may keep a refilled value for the next use in the block.
//
// A value may wait over a few instructions (a knob) of its block if the plan leaves enough units free at each of them, and none of
// them is pinned or has fixed operands or clobbers. Stores are written through, so a waiting value is in its slot too.
//
// Source: source 001 "update_refill_tracking"; the rule is ours. Tested by insert_spill_code_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/program/liveness.h"
#include "allocator/spill_code/plan.h"
#include "ir/program.h"

namespace regduel::allocator {

class RefillReuse {
 public:
  RefillReuse(const ir::Function& in, const Liveness& live, const Plan& plan, const Budget& budget);

  void begin_block() { forget_all(); }
  void forget_all() { ++epoch_; }
  void forget(ir::VRegId root);
  // `temp` holds the bytes of `root` from the instruction of at() on.
  //   is_before   it holds them before that instruction, so that it has to outlive its clobbers
  void remember(ir::VRegId root, ir::VRegId temp, ByteMask bytes, bool is_before);
  // False if no value of `root` waits; then waiting() finds none.
  [[nodiscard]] bool may_have(ir::VRegId root) const { return distance_ != 0 && waiting_[root.index()].epoch == epoch_; }
  // The temporary that holds these bytes of `root` and may keep them up to instruction `number`; invalid = none.
  [[nodiscard]] ir::VRegId waiting(ir::VRegId root, ByteMask bytes, std::uint32_t number);
  void at(std::uint32_t number) { now_ = number; }

 private:
  struct Waiting {
    ir::VRegId temp;
    ByteMask bytes = 0;
    std::uint32_t since = 0;
    std::uint32_t epoch = 0;
  };
  const ir::Function& in_;
  const Plan& plan_;
  int distance_;
  std::uint32_t now_ = 0;
  std::uint32_t epoch_ = 1;
  std::vector<Waiting> waiting_;                 // by vreg
  ir::PerFile<std::vector<std::int32_t>> room_;  // by instruction number: units that are free; empty where nothing is spilled
};

}  // namespace regduel::allocator
