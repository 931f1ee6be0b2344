// Register banks: source operands of one instruction that would be read from one bank at once.
//
// The bank of unit u of file R is u % register_banks (ir/target.h). Two source operands of a named operation, of distinct vregs of
// file R, conflict where the first units that they read lie in one bank; of a tuple the first unit counts, since the others follow
// one by one. Copies, packs, calls and branches are left out: they are no single machine instruction, or read nothing in one cycle.
// A conflict costs a cycle and is never wrong: so it ranks units, and forbids none.
//
// Source: seed 000 "Per-Instruction Assignment" (bank conflicts; knob 641), DECISIONS on types 11 to 14 (by the target's bank
// function). Tested by instruction_walk_test.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "allocator/program/liveness.h"
#include "base/grouped.h"
#include "ir/program.h"

namespace regduel::allocator {

class BankPairs {
 public:
  // Operations with more sources than this are left out: no machine reads so many registers at once.
  static constexpr std::size_t kMaxSources = 8;

  //   banks   1 to 64
  // Cost: O(operands x kMaxSources).
  BankPairs(const ir::Function& f, const Liveness& live, int banks);

  // Conflicts of v, if its home began at `unit`, with those that have a home (by vreg, -1 = none).
  [[nodiscard]] int conflicts(ir::VRegId v, int unit, std::span<const int> home) const;
  // Bit b: a home that begins at a unit u with u % banks = b has a conflict.
  [[nodiscard]] std::uint64_t taken_banks(ir::VRegId v, std::span<const int> home) const;
  // All conflicts, each pair of operands once.
  [[nodiscard]] int count(std::span<const int> home) const;
  [[nodiscard]] int banks() const { return banks_; }

 private:
  struct Partner {
    ir::VRegId vreg;
    int distance;  // bank of the partner's first unit read, as seen from its own: added to the partner's home
  };
  [[nodiscard]] int wanted_by(const Partner& p, int home) const { return (home + p.distance + ir::kMaxUnits * banks_) % banks_; }

  int banks_;
  Grouped<Partner> partners_;  // by vreg
};

}  // namespace regduel::allocator
