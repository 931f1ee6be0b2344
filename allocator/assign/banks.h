// Register banks: source operands of one instruction that are read from one bank at once conflict.
//
// The bank of unit u of file R is u % register_banks (ir/target.h). Two source operands of a named operation, of distinct vregs of
// file R, conflict where the first units that they read lie in one bank; of a tuple the first unit counts, since the others follow
// one by one. Two that stand in one unit, as coalesced vregs may, are read once. Copies, packs, calls and branches are left out:
// they are no single machine instruction, or do not read their sources in one cycle. A conflict costs a cycle each time that it is
// executed, but the result is right; so banks rank units, and forbid none.
//
// Source: source 000 "Per-Instruction Assignment", "Fatpoint Selection" (bank conflicts; knob 641), DECISIONS on types 11 to 14 (by
// the target's bank function). Deviates: the source filters by the bank of the home taken last, of any vreg; here by the banks
// of co-operands. Tested by banks_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "base/grouped.h"
#include "ir/program.h"

namespace regduel::allocator {

inline constexpr int kMaxWeight = 10'000;  // of one constraint, and of one conflict of banks
// The weight of an event of this frequency: that, from 1 to kMaxWeight.
[[nodiscard]] inline int weight_of(std::int64_t frequency) {
  return static_cast<int>(std::clamp<std::int64_t>(frequency, 1, kMaxWeight));
}

// A source that is read in units of file R, the first of which is `unit` of its vreg.
struct BankSource {
  ir::VRegId vreg;
  int unit = 0;
  friend bool operator==(const BankSource&, const BankSource&) = default;
};
// Operations with more sources than this are left out: no machine reads so many registers at once.
inline constexpr std::size_t kMaxBankSources = 8;
// The sources of an instruction that are read at once, each of them once; none where there are fewer than two.
//   list   replaced
void find_bank_sources(const ir::Function& f, const ir::Inst& inst, std::vector<BankSource>& list);

class BankPairs {
 public:
  //   frequency   by block: a pair weighs by how often it is read, as the constraints do (weight_of)
  //   banks       1 to 64
  // Cost: O(operands x kMaxBankSources).
  BankPairs(const ir::Function& f, const Liveness& live, std::span<const std::int64_t> frequency, int banks);

  [[nodiscard]] bool concerns(ir::VRegId v) const { return !partners_[v.index()].empty(); }
  // The weight of the conflicts of v, if its home began at `unit`, with those that have a home (by vreg, -1 = none).
  [[nodiscard]] std::int64_t weight(ir::VRegId v, int unit, std::span<const int> home) const;
  // Bit b: a home that begins at a unit u with u % banks = b has a conflict.
  [[nodiscard]] std::uint64_t taken_banks(ir::VRegId v, std::span<const int> home) const;
  // All conflicts, each pair of operands once.
  [[nodiscard]] int count(std::span<const int> home) const;
  [[nodiscard]] int banks() const { return banks_; }

 private:
  struct Partner {
    ir::VRegId vreg;
    std::int16_t distance;  // added to the partner's home: a home of this vreg in the same bank
    std::int16_t weight;
  };
  [[nodiscard]] bool is_conflict(const Partner& p, int unit, std::span<const int> home) const {
    const int its = home[p.vreg.index()];
    return its >= 0 && (its + p.distance - unit) % banks_ == 0 && its + p.distance != unit;
  }

  int banks_;
  Grouped<Partner> partners_;  // by vreg
};

}  // namespace regduel::allocator
