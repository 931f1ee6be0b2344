// Which spilled predicates go into a bit of a register of file R instead of into memory.
//
// A predicate goes into a pack if R has room for that pack at every point where the predicate lives: units that live there,
// operands of what is spilled, registers that a clobber takes, and the packs there are already, leave one. Of the packs with a bit
// that is free while it lives it takes the one that lives least longer by it; where none lives at one of its points, a new one.
// Predicates of UP go the same way: a pack is a register of R (FORMAT.md), and what comes back into UP is the value of a vreg of
// UP.
//
// Predicates for which there is no room go into packs of their own. With those R is over its budget, and guidance and eviction
// compare what the members of a pack would cost in memory with what others of file R would (Progress::costs_with_packs): the
// cheaper one leaves. A pack that leaves takes its members to their slots, for good: a predicate goes into a pack once, on its way
// out of its register. Source: sources 000 (P2R, bit-spill) and 001 (bit-spill); the rules are ours. Tested by
// predicate_packs_test.cpp.
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
  // Moves a predicate, which is in a register, into a bit of a pack of the plan; false where it lives nowhere.
  // Cost: O(length of its range + packs), and after forget_room() O(operands + points).
  [[nodiscard]] bool take(Plan& plan, ir::VRegId v);
  // The members of a pack go into their slots, and nothing takes their place. False where `pack` is none of the plan's packs, or
  // has no members.
  bool empty(Plan& plan, ir::VRegId pack);
  void empty_all(Plan& plan);

 private:
  struct Pack {
    bool presses = false;                     // others of file R have to leave for it, or it for them
    std::vector<Interval> range;              // of all members
    std::vector<std::vector<Interval>> bits;  // of those of one bit
  };
  [[nodiscard]] bool take(Plan& plan, ir::VRegId v, bool presses);
  void find_room(const Plan& plan);
  [[nodiscard]] bool has_room(std::span<const Interval> range) const;

  const ir::Function& f_;
  const Liveness& live_;
  const Budget& budget_;
  bool has_room_ = false;
  std::vector<std::int32_t> room_;  // by point: units of R that are free
  std::vector<char> is_full_;       // by point: 1 = none is
  std::vector<Pack> packs_;         // by pack of the plan
};

}  // namespace regduel::allocator
