// The judge: from the details of the comparison to a verdict. See memcheck.h for the rule and its source; tested by
// memcheck_test.cpp.

#include "oracles/memcheck/memcheck.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "oracles/collector.h"
#include "oracles/memcheck/deep_check.h"
#include "oracles/memcheck/fast_check.h"

namespace regduel::oracles {
namespace {

constexpr std::string_view kName = "memcheck";

// Why the reads of the two programs cannot be compared: an operand is still a vreg. Empty = they can.
std::string why_unreadable(const ir::Function& after) {
  for (const ir::Inst& i : after.insts)
    for (const ir::Operand& op : after.operands_of(i))
      if (op.is_vreg()) return fmt::format("#{}: %{} has no register", i.id.value, op.vreg().value);
  return {};
}

}  // namespace

MemcheckDetails memcheck(const Case& c, MemcheckScope scope) {
  const auto is_known = [&](const ir::Inst& i) { return !i.is_inserted() && c.prepared.ids().find(i.id) != kNone; };
  if (std::none_of(c.after.insts.begin(), c.after.insts.end(), is_known))
    return {.skipped = "no instruction of the program before is in the program after"};
  FastAnswer answer = fast_check(c, scope);
  if (answer.is_same()) return {};
  if (std::string why = why_unreadable(c.after); !why.empty()) return {.skipped = std::move(why)};
  Definitions defs(c.before);
  MemcheckDetails details = DeepCheck(c, defs, answer, scope).run();
  const auto is_error = [](const OperandMismatch& m) { return m.code != MemcheckCode::None; };
  if (answer.doubtful.empty() || std::none_of(details.mismatches.begin(), details.mismatches.end(), is_error)) return details;
  // An instruction under an undefined guard asks for nothing; a defined guard is one value at each read. So an added definition is
  // an error only if it is also added when all guards are known, and was not there before when no doubtful guard is known; the same
  // the other way round for a removed one. Both checks must object.
  Definitions trusted(c.before);
  DeepCheck trusting(c, trusted, {.suspects = answer.suspects, .doubtful = {}}, MemcheckScope::Errors);
  const std::string undecided = trusting.run().inconclusive;
  Definitions again(c.before);
  details = DeepCheck(c, again, std::move(answer), scope, &trusting.objections()).run();
  if (details.inconclusive.empty()) details.inconclusive = undecided;
  return details;
}

JudgeResult judge_memcheck(const Case& c, const MemcheckOptions& options) {
  if (!options.is_on) return without_verdict(kName, Verdict::Skipped, std::string(kSwitchedOff));
  const MemcheckDetails details = memcheck(c, MemcheckScope::Errors);
  if (!details.skipped.empty()) return without_verdict(kName, Verdict::Skipped, details.skipped);
  JudgeResult result;
  result.judge = kName;
  for (const OperandMismatch& m : details.mismatches) {
    if (m.code == MemcheckCode::None) continue;
    Finding f = {result.judge, std::string(slug(m.code)), m.inst, m.operand, m.other, std::string(text(m.code))};
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
  static constexpr Judge judge(kName, "at each operand the reaching definitions after allocation are those from before",
                               [](const Case& c) { return judge_memcheck(c, {}); });
  return judge;
}

}  // namespace regduel::oracles
