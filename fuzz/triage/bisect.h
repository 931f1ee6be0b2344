// Fuel bisection: the first of an allocator's decisions that makes a failure (ir::Fuel).
//
// With a limit of n an allocator takes its first n optional decisions and does what is plain from there on. Between a limit at
// which the failure does not show and one at which it does there are two neighbours, of which the same is true: the decision
// between them is bad, or the first that anything bad can be seen by. A failure need not be monotonous in the limit; the one that
// is found is then some such decision. Source: -opt-bisect-limit of LLVM; optimization fuel (Whalley 1994, "Automatic isolation of
// compiler errors"). Tested by bisect_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "duel/case.h"
#include "fuzz/triage/failure.h"
#include "ir/allocator.h"

namespace regduel::fuzz {

struct BadDecision {
  std::int64_t number = 0;  // from 1; 0 = there is none: the failure shows without any decision, or fuel makes no difference
  std::string kind;         // as the allocator names it: "coalesce-copy"; "" with 0
};

// Whether the failure shows under this fuel, which it leaves as the allocator left it.
using ShowsUnder = std::function<bool(ir::Fuel&)>;

// Requires that the failure shows without a limit.
//   Ensures   where number > 0: it shows with a limit of `number`, and not with one less
//   Cost      O(log decisions) questions.
[[nodiscard]] BadDecision first_bad_decision(const ShowsUnder& shows_under);
[[nodiscard]] BadDecision first_bad_decision(const duel::Case& input, const Failure& failure);

// The kinds of decisions that it takes, each of which, refused throughout, makes the failure go away. The first bad decision may be
// of another kind than the bug, which needs something to go wrong after; what the bug is about is among these. None where it does
// not fail with enough fuel.
// Cost: a question a kind.
[[nodiscard]] std::vector<std::string> needed_decisions(const ShowsUnder& shows_under);

}  // namespace regduel::fuzz
