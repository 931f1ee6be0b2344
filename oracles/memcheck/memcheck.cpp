// The judge: from the details of the comparison to a verdict. See memcheck.h for the rule and its source; tested by
// memcheck_test.cpp and details_test.cpp.

#include "oracles/memcheck/memcheck.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "oracles/memcheck/deep_check.h"
#include "oracles/memcheck/fast_check.h"

namespace regduel::oracles {
namespace {

class MemcheckJudge final : public Judge {
 public:
  [[nodiscard]] std::string_view name() const override { return "memcheck"; }
  [[nodiscard]] std::string_view what_it_proves() const override {
    return "at each operand the reaching definitions after allocation are those from before";
  }
  [[nodiscard]] JudgeResult judge(const Case& c) const override { return judge_memcheck(c, {}); }
};

// What keeps the reads of the two programs from being compared: an operand that still is a vreg.
std::string why_unreadable(const ir::Function& after) {
  for (const ir::Inst& i : after.insts)
    for (const ir::Operand& op : after.operands_of(i))
      if (op.is_vreg()) return fmt::format("#{}: %{} has no register", i.id.value, op.vreg().value);
  return {};
}

}  // namespace

MemcheckDetails memcheck(const Case& c, MemcheckScope scope) {
  const auto is_known = [&](const ir::Inst& i) { return !i.is_inserted() && c.prepared.ids().find(i.id) != kNone; };
  if (std::none_of(c.after.insts.begin(), c.after.insts.end(), is_known)) {
    MemcheckDetails details;
    details.skipped = "no instruction of the program before is in the program after";
    return details;
  }
  FastAnswer answer = fast_check(c, scope);
  if (answer.is_same()) return {};
  if (std::string why = why_unreadable(c.after); !why.empty()) {
    MemcheckDetails details;
    details.skipped = std::move(why);
    return details;
  }
  Definitions defs(c.before);
  MemcheckDetails details = DeepCheck(c, defs, answer, scope).run();
  const auto is_error = [](const OperandMismatch& m) { return m.code != MemcheckCode::None; };
  if (answer.doubtful.empty() || std::none_of(details.mismatches.begin(), details.mismatches.end(), is_error)) return details;
  // Where a guard is undefined nothing is asked for, and elsewhere it is one value at each read. So a definition that came must be
  // there also where all guards are known, and be none that could be there before if nothing is known of the doubtful ones; and the
  // other way round for one that went. That is what both checks object to.
  Definitions trusted(c.before);
  DeepCheck trusting(c, trusted, {.suspects = answer.suspects, .doubtful = {}}, MemcheckScope::Errors);
  const std::string undecided = trusting.run().inconclusive;
  Definitions again(c.before);
  details = DeepCheck(c, again, std::move(answer), scope, &trusting.objections()).run();
  if (details.inconclusive.empty()) details.inconclusive = undecided;
  return details;
}

JudgeResult judge_memcheck(const Case& c, const MemcheckOptions& options) {
  JudgeResult result;
  result.judge = "memcheck";
  if (!options.is_on) {
    result.verdict = Verdict::Skipped;
    result.reason = kSwitchedOff;
    return result;
  }
  const MemcheckDetails details = memcheck(c, MemcheckScope::Errors);
  if (!details.skipped.empty()) {
    result.verdict = Verdict::Skipped;
    result.reason = details.skipped;
    return result;
  }
  for (const OperandMismatch& m : details.mismatches) {
    if (m.code == MemcheckCode::None) continue;
    Finding f;
    f.judge = result.judge;
    f.category = slug(m.code);
    f.inst = m.inst;
    f.operand = m.operand;
    f.other = m.other;
    f.message = text(m.code);
    if (m.code == MemcheckCode::RematerializationMismatch)
      f.message += fmt::format(": Old instruction: [{}] New instruction: [{}]", m.remat_of.value, m.other.value);
    if (!m.saved.empty()) f.message += fmt::format(" (callee-saved {})", m.saved);
    result.findings.push_back(std::move(f));
  }
  if (!result.findings.empty()) {
    result.verdict = Verdict::Fail;
  } else if (!details.inconclusive.empty()) {
    result.verdict = Verdict::Inconclusive;
    result.reason = details.inconclusive;
  }
  return result;
}

const Judge& memcheck_judge() {
  static const MemcheckJudge judge;
  return judge;
}

}  // namespace regduel::oracles
