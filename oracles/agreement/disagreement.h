// If two judges contradict each other on correctness, one of them has a bug. The contradiction is a finding of its own, with the
// findings of both. Judges prove different things, so most differences are no contradictions. One judge objects and one passes:
//
//   objects      passes       contradiction?
//   structure    any          no: its rules (limits, classes, slots) hold or not whatever the values are
//   any          structure    no: it follows no value
//   memcheck     execution    no: a run sees only the paths and guard outcomes that it takes, and in a wrong register it may meet
//   symbolic     execution        the right value
//   execution    memcheck,    yes: a run is a witness. Unless another static judge objects as well (structure: the register of a
//                symbolic         fixed or tied operand; symbolic: what memcheck cannot see), or one of them came to no verdict
//   memcheck     symbolic     yes: at each use the right vreg on all paths, so also the right definitions. Unless structure objects
//                                 as well: of a form that breaks its rules (a remat of what is not rematerialisable) each makes its
//                                 own sense. Or, at an unknown origin, there are packs or unpacks: moves of bytes to symbolic,
//                                 definitions to memcheck; or a guard that may be undefined: what is written under it is undefined
//                                 to symbolic, which then asks for nothing, as FORMAT.md has it ("Undefined": the guard is an
//                                 operand), and a may-def as any other to memcheck
//   symbolic     memcheck     no, of an allocation of unknown origin: memcheck compares sets, and says what leaves them as they are
//                                 ("Out of sight" in memcheck.h). Yes, of one believed valid, unless structure objects too or a
//                                 run bears symbolic out
//   completeness success      yes: an instruction proved impossible, in an allocation to which no judge objects
//
// "Believed valid" is an allocation that an allocator made and no fault operator damaged: chance does not put blind spots of a
// judge into it. Source: RE2's testing/ (one function that says which differences are tolerated, and why). Tested by
// disagreement_test.cpp; properties/judge_invariance_test.cpp looks for contradictions over valid and damaged allocations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracles/judge.h"

namespace regduel::oracles {

enum class Origin { Unknown, BelievedValid };

// Properties of the case that decide whether a difference is tolerated.
struct Circumstances {
  Origin origin = Origin::Unknown;
  bool has_packs = false;            // the program before has a pack or an unpack
  bool has_undefined_guard = false;  // a guard of the program before has no value on some path; false if believed valid
};
// Cost: linear in the program before; at an unknown origin + passes x blocks x vregs, where there are guards.
[[nodiscard]] Circumstances circumstances_of(const Case& c);

// One judge fails and another passes. Requires: both are in the report, with these verdicts.
struct Difference {
  std::string_view objector;
  std::string_view defender;
};
// All such pairs among the judges of correctness: structure, memcheck, symbolic, execution. In the order of judging.
[[nodiscard]] std::vector<Difference> differences(const Report& report);
// Why this difference is no contradiction; "" = it is one.
[[nodiscard]] std::string tolerated(const Report& report, const Difference& difference, const Circumstances& circumstances);

// The contradictions as findings of judge "disagreement": categories "execution-vs-static", "memcheck-vs-symbolic",
// "symbolic-vs-memcheck"; at the place of the objector's first finding. Pass where there is none, skipped where fewer than two
// judges of correctness came to a verdict.
[[nodiscard]] JudgeResult judge_disagreement(const Report& report, const Circumstances& circumstances);
// The same in the circumstances of a case. Cost: that of circumstances_of a difference; none where there is none.
[[nodiscard]] JudgeResult judge_disagreement(const Report& report, const Case& c);

// Fails with category "completeness-vs-success" if no judge in the report objects to the allocation, but completeness proves an
// instruction of c.before impossible, which c.after still has, and which reads no values that may be equal (of roots that copies,
// phis, packs or unpacks join). Cost: as find_impossible (completeness.h).
[[nodiscard]] JudgeResult judge_success_against_completeness(const Report& report, const Case& c);

}  // namespace regduel::oracles
