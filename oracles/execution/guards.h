// The truth of computed predicates in each run of the execution judge: a covering design, so that guards meet in all combinations
// over a few runs instead of by chance.
//
// A design of 13 runs: run 0 makes all predicates true, run 1 all false, and the 11 runs behind are the cyclic rows of the design
// of Plackett and Burman for 12 runs ("The design of optimum multifactorial experiments", 1946), which any three of its 11 columns
// project onto all eight combinations of true and false. A program that defines more predicates uses further groups of 11 columns,
// each with the 11 rows in an order of its own, such that no two columns of all groups are alike. So over the 13 runs, of columns
// that differ, any two take all four combinations, and any three of one group all eight.
//
// A predicate is still a function: the same operation on the same operands has the same truth in one run. The column decides the
// truth at the first computation only. Tested by guards_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "oracles/before.h"

namespace regduel::oracles {

inline constexpr int kDesignRuns = 13;
inline constexpr std::uint32_t kGroupColumns = 11, kDesignGroups = 12, kDesignColumns = kGroupColumns * kDesignGroups;

// True if a predicate of this column holds in this run (taken modulo kDesignRuns) when it is computed for the `nth` time, from 0.
// Requires: run >= 0, column < kDesignColumns. Each time is a group of its own: (column, nth) is to (column, nth + 1) as to a
// column of another group.
[[nodiscard]] bool holds(int run, std::uint32_t column, std::uint32_t nth);

// The columns of the predicates that a program defines, in the order of the program: vregs that guard something have the first half
// of the groups, in turn, the others the second half.
struct PredicateColumns {
  // Cost: O(operands).
  explicit PredicateColumns(const Before& before);

  std::vector<std::uint8_t> of_operand;  // by operand of the program; kNoColumn where it defines no predicate

  static constexpr std::uint8_t kNoColumn = 0xFF;
};

// The outcomes of one run.
class PredicateOutcomes {
 public:
  void begin_run(int run) {
    run_ = run;
    known_ = {};
    times_.assign(kDesignColumns, 0);
  }
  // `computed`: the hash of operation and operands.
  [[nodiscard]] bool outcome(std::uint64_t computed, std::uint32_t column) {
    constexpr std::uint32_t kNew = 2;
    std::uint32_t& known = known_.at(computed == FlatMap::kFree ? 0 : computed, kNew);
    if (known == kNew) known = holds(run_, column, times_[column]++) ? 1 : 0;
    return known == 1;
  }

 private:
  int run_ = 0;
  FlatMap known_;
  std::vector<std::uint32_t> times_;  // of each column: outcomes that were new in this run
};

}  // namespace regduel::oracles
