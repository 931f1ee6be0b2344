// The judge `proof`: no allocation that passes beats a bound that another duelist calls proved, within the class of that proof.
//
// Where it does, the proof is wrong, or this judge mistakes the class; both are bugs. Tested by duel/contradictions_test.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/prover.h"
#include "oracles/judge.h"

namespace regduel::oracles {

struct Measures;

// The category of what beats such a bound.
[[nodiscard]] std::string_view beaten(ir::Bound::Kind kind);

struct ClaimedBound {
  std::string by;  // the duelist
  ir::Bound bound;
};

// Fails with category "beats-registers", "beats-spill-bytes" or "beats-spill-bytes-by-point", at the function as a whole; passes where
// nothing is beaten within the class.
//   Requires  all judges of correctness passed `after`.
//   Cost      that of why_not_in_one_home or why_not_by_point where a bound is beaten.
[[nodiscard]] JudgeResult judge_proof(const Before& before, const ir::Function& after, const Measures& measures,
                                      std::span<const ClaimedBound> bounds);

}  // namespace regduel::oracles
