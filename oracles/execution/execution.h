// The execution judge: both programs run side by side under uninterpreted semantics, on several inputs, along the same
// path. See execution.cpp for the semantics and README.md for what it cannot see.
#pragma once

#include <cstdint>

#include "oracles/report.h"

namespace regduel::oracles {

struct ExecutionOptions {
  int runs = 8;                            // inputs: each with hash values, guard outcomes and a path of its own
  std::int64_t fuel_base = 2000;           // instructions of the program after that one run may execute: fuel_base +
  std::int64_t fuel_per_instruction = 2;   // fuel_per_instruction x the instructions of the program after
  std::int64_t stale_base = 400;           // a run in which no new path comes ends after stale_base + stale_per_instruction x the
  std::int64_t stale_per_instruction = 1;  // instructions of the program after
  std::uint64_t seed = 0;                  // of the first run; the same seed, the same findings
};
// What a judgement took; a pass that found a difference, and the one that reported it, count together.
struct ExecutionCost {
  int runs = 0;
  std::int64_t instructions = 0;  // of the program after, and one for each eight edges at each search for blocks not yet executed
};
// Cost: O(runs x fuel) at most. `cost`, where it is not null, grows by what was spent.
[[nodiscard]] JudgeResult judge_execution(const Case& c, const ExecutionOptions& options, ExecutionCost* cost = nullptr);
// The same with default options.
[[nodiscard]] const Judge& execution_judge();

}  // namespace regduel::oracles
