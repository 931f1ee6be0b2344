// The types of judging: a case, what a judge says of it, and the interface of a judge. judges.h lists the judges and asks them.
// Judges neither throw nor abort on any pair of well-formed programs: they return a result with findings. Tested by judge_test.cpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::ir {
struct Claims;
}  // namespace regduel::ir

namespace regduel::oracles {

enum class Verdict { Pass, Fail, Inconclusive, Skipped };
[[nodiscard]] std::string_view name(Verdict v);  // "pass", "fail", "inconclusive", "skipped"

struct Finding {
  std::string judge;
  std::string category;  // a stable slug, one rule each: "tied-operand", "memcheck-6-extra-defs", ...
  ir::InstId inst;       // where it shows: an instruction of the program after; invalid = the function as a whole
  int operand = -1;      // operand number, -1 = the instruction as a whole
  ir::InstId other;      // the second site (the clobbering def, the missing spill, ...); invalid = none
  std::string message;   // one line, in words, without repeating the place
};
// judge + category + normalised place (opcode and role of the operand); no register numbers and no instruction numbers,
// so that one bug has one signature: "structure/tied-operand@fma.acc:def".
[[nodiscard]] std::string signature(const Finding& f, const ir::Function& after);

struct JudgeResult {
  std::string judge;
  Verdict verdict = Verdict::Pass;
  std::string reason;             // for inconclusive and skipped, never empty there
  std::vector<Finding> findings;  // non-empty exactly where the verdict is fail
};

struct Report {
  std::vector<JudgeResult> results;  // in the order of judging

  // fail if any judge says fail; else inconclusive if any says so; else pass if any says so; else skipped.
  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] const JudgeResult* result_of(std::string_view judge) const;
};

class Before;
struct Measures;
struct Raised;
struct SymbolicStates;

// One case: a program before and after allocation, and the limits. Judges see lowered spill code as the spills and refills that it
// stands for (pair/raise.h). Requires: both well-formed (ir::check); the arguments of the constructor outlive the case.
struct Case {
  Case(const Before& prepared_, const ir::Function& after_, ir::Limits limits_, const ir::Claims* claims_ = nullptr,
       bool is_believed_valid_ = false, const Measures* measures_ = nullptr);
  // For a single case: makes its own Before.
  Case(const ir::Function& before_, const ir::Function& after_, const ir::Target& target_, ir::Limits limits_,
       const ir::Claims* claims_ = nullptr, bool is_believed_valid_ = false);

  std::shared_ptr<const Before> own;  // null if `prepared` was given
  const Before& prepared;
  const ir::Function& before;
  const ir::Function& given;             // the program after, as it came
  std::shared_ptr<const Raised> raised;  // null = no lowered spill code
  const ir::Function& after;             // without lowered spill code
  const ir::Target& target;
  ir::Limits limits;
  const ir::Claims* claims;            // null = no claims
  bool is_believed_valid;              // an allocator of ours made it, and it was not changed since (disagreement.h)
  const Measures* measures = nullptr;  // measure() of this case, if it is known already (quality.h); else null
  // Made by the first judge that needs them (symbolic/settled.h), so only one thread at a time judges a case.
  mutable std::shared_ptr<SymbolicStates> symbolic_states;
};

class Judge {
 public:
  using Function = JudgeResult (*)(const Case& c);
  constexpr Judge(std::string_view name, std::string_view what_it_proves, Function function)
      : name_(name), what_it_proves_(what_it_proves), judge_(function) {}

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view what_it_proves() const { return what_it_proves_; }  // one line for --help
  [[nodiscard]] JudgeResult judge(const Case& c) const { return judge_(c); }

 private:
  std::string_view name_, what_it_proves_;
  Function judge_;
};

}  // namespace regduel::oracles
