// What the operators know of a subject: of the program before (contents.h) and of its allocation (pattern_analysis.h). Whoever
// applies many operators to one subject brings both along; else each operator computes what it needs.
#pragma once

#include <memory>
#include <optional>

#include "fuzz/faults/contents.h"
#include "fuzz/faults/pattern_analysis.h"

namespace regduel::fuzz {

// Analyses of a subject's allocation as it is, each made when it is first asked for: operators ask for the same ones one after
// another.
class AfterFacts {
 public:
  explicit AfterFacts(const Subject& subject)
      : before_(subject.before), program_(subject.after), preserved_(preserved_units_of(subject)) {}
  const UnitLiveness& liveness() {
    if (!liveness_) liveness_.emplace(program_, preserved_);
    return *liveness_;
  }
  const Holdings& holdings() {
    if (!holdings_) holdings_.emplace(before_, program_);
    return *holdings_;
  }

 private:
  const ir::Function& before_;
  const EditProgram program_;
  UnitSet preserved_;
  std::optional<UnitLiveness> liveness_;
  std::optional<Holdings> holdings_;
};

// What a subject brings along, or is computed here.
template <class Facts>
class BroughtOrMade {
 public:
  template <class From>
  BroughtOrMade(Facts* brought, const From& from)
      : own_(brought == nullptr ? std::make_unique<Facts>(from) : nullptr), facts_(brought == nullptr ? own_.get() : brought) {}
  Facts& operator*() const { return *facts_; }
  Facts* operator->() const { return facts_; }

 private:
  std::unique_ptr<Facts> own_;
  Facts* facts_;
};
struct FactsOf : BroughtOrMade<const BeforeFacts> {
  explicit FactsOf(const Subject& s) : BroughtOrMade(s.facts, s.before) {}
};
struct AfterFactsOf : BroughtOrMade<AfterFacts> {
  explicit AfterFactsOf(const Subject& s) : BroughtOrMade(s.after_facts, s) {}
};

}  // namespace regduel::fuzz
