// The execution judge: both programs run side by side under uninterpreted semantics, on several inputs, along the same path.
// execution.cpp has the semantics, README.md the limits of the judge. Tested by execution_test.cpp and undefined_test.cpp.
#pragma once

#include <cstdint>

#include "oracles/judge.h"

namespace regduel::oracles {

struct ExecutionOptions {
  int runs = 13;                  // inputs: each with hash values, guard outcomes and a path of its own; 13 are a design (guards.h)
  std::int64_t fuel_base = 2000;  // instructions of the program after that one of these runs may execute: fuel_base +
  std::int64_t fuel_per_instruction = 2;    // fuel_per_instruction x the instructions of the program after
  std::int64_t stale = 300;                 // instructions without anything new after which a run ends
  std::int64_t fuel_to_cover = 20'000'000;  // instructions that all further runs together may execute, for edges not yet covered
  std::uint64_t seed = 0;                   // of the first run; the same seed, the same findings
};
// The cost of a judgement: the pass that found a difference and the pass that reported it together.
struct ExecutionCost {
  int runs = 0;
  std::int64_t instructions = 0;  // of the program after, and one for each eight edges looked at in search of one not yet covered
};
// A pass means that each reachable edge was taken, and each back edge in two laps (paths.h). Inconclusive, with the number of the
// other edges, if the fuel was not enough. Cost: O(runs x fuel + edges not covered by these x instructions),
// at most O(runs x fuel + fuel_to_cover). The cost is added to `cost` unless it is null.
[[nodiscard]] JudgeResult judge_execution(const Case& c, const ExecutionOptions& options, ExecutionCost* cost = nullptr);
// The same with default options.
[[nodiscard]] const Judge& execution_judge();

}  // namespace regduel::oracles
