// Gates: bounds on how much worse a measure may get, and the judgement whether a comparison keeps to them.
//
//   Gate        of the geometric mean over all pairs ("weighted_spill_bytes>1%"). It is exceeded where the ratio is beyond the bound and a
//               signed-rank test, one-sided in the gate's direction, says p < alpha. Holm's correction is over the gates that are judged
//               together, and not over measures that are only shown.
//   WorstGate   of any one program. Allocators are deterministic, so that one pair is proof enough and nothing is tested.
//
// n pairs that all got worse have p = 2^-n: with too few of them no gate could ever be exceeded. A gate of which that holds is not judged,
// which callers treat as a failure. Tested by gate_test.cpp.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "results/comparison.h"

namespace regduel::results {

// A bound on a change for the worse: "weighted_spill_bytes>1%", or "occupancy_percent<2%".
struct Gate {
  const Measure* measure = nullptr;
  bool is_increase = true;
  double share = 0;  // 0.01 = 1%
  std::string text;
};
// Why it is none, as an error.
[[nodiscard]] std::expected<Gate, std::string> parse_gate(const std::string& text);
// "90%" = 0.9. nullopt where it is no percentage of [0, 100].
[[nodiscard]] std::optional<double> parse_percentage(const std::string& text);

enum class GateVerdict { Kept, Exceeded, TooFew };

struct GateJudgement {
  std::size_t comparison = 0, gate = 0;  // which of those given
  GateVerdict verdict = GateVerdict::Kept;
  std::size_t pairs = 0, changed = 0;
  double ratio = 1;
  double adjusted_p = 1;   // one-sided
  std::size_t needed = 0;  // the fewest pairs that can show p < alpha, with so many gates
  friend bool operator==(const GateJudgement&, const GateJudgement&) = default;
};
// Each gate on each comparison, in this order: by comparison, then by gate.
//   TooFew   there are fewer pairs than `needed`, or the ratio is beyond the bound and fewer than `needed` of them changed
//   Requires  each comparison has the measures of the gates, 0 < alpha < 1
[[nodiscard]] std::vector<GateJudgement> judge(std::span<const Gate> gates, std::span<const Comparison> comparisons,
                                               double alpha = kAlpha);

// The pairs beyond the bound, the worst first.
[[nodiscard]] std::vector<Change> beyond(const Gate& worst, const Comparison& comparison);

// The share of rows that have a partner: pairs of the larger side's rows; 0 where there are none.
[[nodiscard]] double paired_share(const Comparison& comparison);

}  // namespace regduel::results
