// Which spilled predicates go into a bit of a register of file R instead of into memory.
//
// A predicate goes into a pack if R has a free unit for that pack at every point where the predicate lives, beside live units,
// temporaries of spilled vregs, clobbered registers and the other packs. Of the packs with a bit that is free over its range, the
// predicate takes the pack whose range grows least by it. If no pack lives at any of its points, it gets a new one. Predicates of
// UP share these packs: a pack is a register of R (FORMAT.md), and a bit_refill may write a vreg of UP.
//
// Predicates without room go into other packs, with which R is over its budget. Then guidance and eviction compare the spill cost of
// a pack's members with that of other vregs of R (Progress::costs_with_packs), and the cheaper leaves. The members of a pack that
// leaves go to their slots for good, since a predicate goes into a pack once, when it leaves its register.
//
// Source: sources 000 (P2R, bit-spill) and 001 (bit-spill); the rules are ours. Tested by predicate_packs_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/program/liveness.h"
#include "allocator/spill_code/plan.h"

namespace regduel::allocator {

class PredicatePacks {
 public:
  // Of the program that out_of_ssa made. All outlive it.
  PredicatePacks(const ir::Function& f, const Liveness& live, const Budget& budget) : f_(f), live_(live), budget_(budget) {}

  // A vreg of file R has left its register.
  void forget_room() { has_room_ = false; }
  // Moves a predicate from its register into a bit of a pack of the plan; false if its range is empty.
  // Cost: O(length of its range + packs), and after forget_room() O(operands + points).
  [[nodiscard]] bool take(Plan& plan, ir::VRegId v);
  // Moves the members of a pack into their slots, and closes the pack. False if `pack` is no pack of the plan, or has no members.
  bool empty(Plan& plan, ir::VRegId pack);
  void empty_all(Plan& plan);

 private:
  struct Pack {
    bool presses = false;         // R is over budget with it
    LiveRange range;              // of all members
    std::vector<LiveRange> bits;  // of those of one bit
  };
  [[nodiscard]] bool take(Plan& plan, ir::VRegId v, bool presses);
  void find_room(const Plan& plan);
  [[nodiscard]] bool has_room(std::span<const Interval> range) const;

  const ir::Function& f_;
  const Liveness& live_;
  const Budget& budget_;
  bool has_room_ = false;
  std::vector<std::int32_t> room_;  // by point: units of R that are free
  std::vector<char> is_full_;       // by point: 1 = no unit is free
  std::vector<Pack> packs_;         // by pack of the plan
};

}  // namespace regduel::allocator
