// The gates of `regduel compare`: which there are, and what came of them, in one line each (results/gate.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/show/json.h"
#include "results/gate.h"

namespace regduel::cli {

struct GateOptions {
  std::vector<std::string> mean, worst;  // --gate, --gate-worst
  double alpha = results::kAlpha;
  std::string pairs_at_least = "90%";

  void add_to(Arguments& a);
};

// A gate that failed. Of one that bounds each program: the programs beyond it.
struct FailedGate {
  std::string text;
  std::vector<results::Change> programs;
};

struct GateReport {
  std::vector<FailedGate> exceeded;
  std::vector<std::string> unjudged;  // why a gate decides nothing, which is a failure too
  std::vector<std::string> kept;
  [[nodiscard]] bool fails() const { return !exceeded.empty() || !unjudged.empty(); }
};

class Gates {
 public:
  // Throws BadInput: an option is no gate, no level, no percentage.
  explicit Gates(const GateOptions& options);
  [[nodiscard]] bool empty() const { return mean_.empty() && worst_.empty(); }
  [[nodiscard]] std::vector<const results::Measure*> measures() const;
  //   titles  of the comparisons
  [[nodiscard]] GateReport judge(const std::vector<results::Comparison>& comparisons, const std::vector<std::string>& titles) const;

 private:
  // Why a comparison is over too few of the programs; "" where it is not.
  [[nodiscard]] std::string complaint_about_pairs(const results::Comparison& comparison) const;

  std::vector<results::Gate> mean_, worst_;
  double alpha_, pairs_at_least_ = 0;
};

[[nodiscard]] Json json_of(const GateReport& report, const std::function<Json(const results::Change&)>& describe);

}  // namespace regduel::cli
