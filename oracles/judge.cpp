// Cases, reports and signatures. Tested by judge_test.cpp.

#include "oracles/judge.h"

#include <algorithm>

#include "oracles/before.h"
#include "oracles/pair/raise.h"

namespace regduel::oracles {
namespace {

std::string_view role_name(const ir::Operand& op) {
  switch (op.role) {
    case ir::Role::Def: return "def";
    case ir::Role::DefUse: return "inout";
    case ir::Role::Use: return "use";
    case ir::Role::Guard: return "guard";
    case ir::Role::Clobber: return "clobber";
  }
  return "operand";
}

}  // namespace

Case::Case(const Before& prepared_, const ir::Function& after_, ir::Limits limits_, const ir::Claims* claims_,
           bool is_believed_valid_, const Measures* measures_)
    : prepared(prepared_), before(prepared_.program()), given(after_), raised(raise(before, after_, prepared_.target(), limits_)),
      after(raised ? raised->program : after_), target(prepared_.target()), limits(limits_), claims(claims_),
      is_believed_valid(is_believed_valid_), measures(measures_) {}

Case::Case(const ir::Function& before_, const ir::Function& after_, const ir::Target& target_, ir::Limits limits_,
           const ir::Claims* claims_, bool is_believed_valid_)
    : own(std::make_shared<const Before>(before_, target_)), prepared(*own), before(before_), given(after_),
      raised(raise(before_, after_, target_, limits_)), after(raised ? raised->program : after_), target(target_), limits(limits_),
      claims(claims_), is_believed_valid(is_believed_valid_) {}

std::string_view name(Verdict v) {
  switch (v) {
    case Verdict::Pass: return "pass";
    case Verdict::Fail: return "fail";
    case Verdict::Inconclusive: return "inconclusive";
    case Verdict::Skipped: return "skipped";
  }
  return "unknown";
}

std::string signature(const Finding& f, const ir::Function& after) {
  std::string place = "function";
  if (f.inst.is_valid()) {
    const ir::Inst* const inst = after.find_inst(f.inst);
    if (inst == nullptr) {
      place = "missing";
    } else {
      place = inst->is_inserted() ? "+" : "";
      place += after.mnemonic(*inst);
      const auto ops = after.operands_of(*inst);
      if (f.operand >= 0 && static_cast<std::size_t>(f.operand) < ops.size()) {
        place += ':';
        place += role_name(ops[static_cast<std::size_t>(f.operand)]);
      }
    }
  }
  return f.judge + "/" + f.category + "@" + place;
}

Verdict Report::verdict() const {
  const auto any = [this](Verdict v) {
    return std::any_of(results.begin(), results.end(), [v](const JudgeResult& r) { return r.verdict == v; });
  };
  for (const Verdict v : {Verdict::Fail, Verdict::Inconclusive, Verdict::Pass})
    if (any(v)) return v;
  return Verdict::Skipped;
}

const JudgeResult* Report::result_of(std::string_view judge_name) const {
  for (const JudgeResult& r : results)
    if (r.judge == judge_name) return &r;
  return nullptr;
}

}  // namespace regduel::oracles
