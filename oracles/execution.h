// The execution judge: both programs run side by side under uninterpreted semantics, on several inputs, along the same
// path. See execution.cpp for the semantics and README.md for what it cannot see.
#pragma once

#include <cstdint>

#include "oracles/report.h"

namespace regduel::oracles {

struct ExecutionOptions {
  int runs = 8;                          // inputs: each with hash values, guard outcomes and a path of its own
  std::int64_t fuel_base = 2000;         // instructions of the program after that one run may execute: fuel_base +
  std::int64_t fuel_per_instruction = 2; // fuel_per_instruction x the instructions of the program after
  std::int64_t stale_base = 400;         // a run in which no new path comes ends after stale_base + stale_per_instruction x the
  std::int64_t stale_per_instruction = 1;  // instructions of the program after
  std::uint64_t seed = 0;                // of the first run; the same seed, the same findings
};
// Cost: O(runs x fuel) at most.
[[nodiscard]] JudgeResult judge_execution(const Case& c, const ExecutionOptions& options);
// The same with default options.
[[nodiscard]] const Judge& execution_judge();

}  // namespace regduel::oracles
