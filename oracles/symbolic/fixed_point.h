// The fixed point of the must-analysis over a plan: states at the heads of blocks, and walks over a block from there.
// Tested by symbolic_test.cpp and the tests of the judge `uniform`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "oracles/symbolic/join.h"
#include "oracles/symbolic/plan.h"
#include "oracles/symbolic/state.h"

namespace regduel::oracles::symbolic {

// Sees the states of a block in order, and may change their locations.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void at_head(std::uint32_t block, State& state) = 0;
  virtual void before_step(std::uint32_t step, State& state) = 0;
  virtual void after_step(std::uint32_t step, State& state) = 0;
  virtual void on_edge(std::uint32_t edge, State& state) = 0;  // behind the phis of the edge; of a walk alone
};

// Where a check failed: step, operand and, of callee-saved registers, location.
using ViolationPlace = std::tuple<std::uint32_t, int, std::uint32_t>;
using Violations = std::set<ViolationPlace>;
[[nodiscard]] inline ViolationPlace place_of(const Plan& plan, const Violation& l) {
  return {static_cast<std::uint32_t>(l.step - plan.steps.data()), l.operand,
          l.kind == Violation::Kind::CalleeSaved ? l.location : 0};
}

// Of the second, slower analysis, at the head of each block (join.h). Each token may double what is asked of a value.
[[nodiscard]] inline int most_tokens_of(const Plan& plan) {
  constexpr int most = 8, most_if_large = 4;
  constexpr std::size_t large = 10'000;  // steps
  return plan.steps.size() < large ? most : most_if_large;
}
[[nodiscard]] inline bool has_guards(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Step& s) { return s.guard != kNoIndex; });
}

class FixedPoint {
 public:
  // `changes`: an observer that takes part in the analysis itself; what it changes depends on the place alone. Null = none.
  FixedPoint(Plan& plan, int most_tokens, Observer* changes = nullptr)
      : plan_(plan), changes_(changes), state_(plan), joiner_(plan, most_tokens), entries_(plan.blocks.size()) {}

  // Blocks are visited in reverse postorder until no state at the head of a block changes. False if there is no end in sight.
  [[nodiscard]] bool settle();
  // Walks over a block. Violations go to `listener` and states to `observer`; null = nowhere. Requires: settled.
  void walk(std::uint32_t block, ViolationListener* listener, Observer* observer = nullptr);

  [[nodiscard]] State& state() { return state_; }  // during a walk: where it is
  [[nodiscard]] const Entry& entry(std::uint32_t block) const { return entries_[block]; }

 private:
  static constexpr std::size_t kMaxSweeps = 10000;  // far above what any program needs

  void steps(std::uint32_t block, ViolationListener* listener, Observer* observer);

  Plan& plan_;
  Observer* changes_;
  State state_;
  Joiner joiner_;
  std::vector<Entry> entries_;  // by block
};

}  // namespace regduel::oracles::symbolic
