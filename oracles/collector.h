// Collects the findings of one judge in the order in which they were made. At most kPerCategory findings of each category are kept,
// the others are counted, so that a nonsense program does not yield a million findings.
// Tested through every judge; the bound by structure_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracles/judge.h"

namespace regduel::oracles {

class Collector {
 public:
  static constexpr int kPerCategory = 16;

  explicit Collector(std::string_view judge) : judge_(judge) {}

  // False if the category is full: the finding is counted, and its message need not be made.
  [[nodiscard]] bool wants(std::string_view category) {
    int& count = count_of(category);
    if (count < kPerCategory) return true;
    ++count;
    return false;
  }
  void add(std::string_view category, ir::InstId inst, int operand, std::string message, ir::InstId other = {}) {
    int& count = count_of(category);
    if (++count > kPerCategory) return;
    findings_.push_back({judge_, std::string(category), inst, operand, other, std::move(message)});
  }
  [[nodiscard]] bool empty() const { return findings_.empty(); }

  // Fail with the findings, or pass where there are none.
  [[nodiscard]] JudgeResult finish() {
    JudgeResult result;
    result.judge = judge_;
    result.verdict = findings_.empty() ? Verdict::Pass : Verdict::Fail;
    for (const auto& [category, count] : counts_)
      if (count > kPerCategory) {
        if (!result.reason.empty()) result.reason += "; ";
        result.reason += std::to_string(count - kPerCategory) + " more of " + category;
      }
    result.findings = std::move(findings_);
    return result;
  }

 private:
  int& count_of(std::string_view category) {
    for (auto& [name, count] : counts_)
      if (name == category) return count;
    return counts_.emplace_back(std::string(category), 0).second;
  }

  std::string judge_;
  std::vector<Finding> findings_;
  std::vector<std::pair<std::string, int>> counts_;  // in the order of the first finding
};

[[nodiscard]] inline JudgeResult without_verdict(std::string_view judge, Verdict verdict, std::string reason) {
  JudgeResult result;
  result.judge = std::string(judge);
  result.verdict = verdict;
  result.reason = std::move(reason);
  return result;
}

}  // namespace regduel::oracles
