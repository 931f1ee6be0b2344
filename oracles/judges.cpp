#include "oracles/judges.h"

#include <algorithm>
#include <array>
#include <utility>

#include "oracles/agreement/disagreement.h"
#include "oracles/execution/execution.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/quality/quality.h"
#include "oracles/structure/structure.h"
#include "oracles/symbolic/symbolic.h"
#include "oracles/uniform/uniform.h"

namespace regduel::oracles {

std::span<const Judge* const> judges() {
  static const std::array all = {&structure_judge(), &memcheck_judge(),  &symbolic_judge(),
                                 &uniform_judge(),   &execution_judge(), &quality_judge()};
  return all;
}

const Judge* find_judge(std::string_view judge_name) {
  for (const Judge* j : judges())
    if (j->name() == judge_name) return j;
  return nullptr;
}

Report judge(const Case& c, std::span<const std::string> names) {
  Report report;
  for (const Judge* j : judges())
    if (names.empty() || std::find(names.begin(), names.end(), j->name()) != names.end()) report.results.push_back(j->judge(c));
  if (names.empty()) {
    JudgeResult contradictions = judge_disagreement(report, c);
    if (contradictions.verdict == Verdict::Fail) report.results.push_back(std::move(contradictions));
  }
  return report;
}

}  // namespace regduel::oracles
