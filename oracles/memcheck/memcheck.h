// memcheck: the reaching-definitions judge.
//
// For each register operand that an original instruction reads in a reachable block, byte by byte: the definitions that reach it
// after allocation are those that reached it before. Both programs are looked through copies, phis, spills and refills, predicate
// packs and remats (value_graph.h, reaching_sets.h), so what remains are definitions of the program before, and undefined contents.
//
//   before = { definitions }            after must be the same set, and nothing undefined
//   before has an undefined path        there, anything may come after; but no definition may disappear
//   before is undefined on all paths    anything may come after; counted as a mismatch on old code, not a finding
//
// A remat of #id stands for #id if #id may be repeated, and each of its operands has the same definitions at the new place as at
// #id before allocation. In a `device` function each `ret` reads the callee-saved registers that the program after writes, and must
// find their entry values. Original copies and phis are moves, so only their guards count as reads.
//
// Guards: a guarded def is a may-def. A difference of sets is excused if no path that respects the guards shows it
// (a spill store under the guard of the def that it stores).
//
// Out of sight, by construction: anything that leaves every *set* as it was (the right definition by the wrong path, an earlier
// visit's value of the right definition, a spill store under a wrong guard in a refill-modify-store).
//
// Source: source 000 "Post-Allocation Verification" (fast check, deep check, Additions and Removals, the ten categories, counters);
// DECISIONS "memcheck" (precedence 7, 8, 9, 3, 4, 1, 2, 5, 6, 10). Deviates: a wrong value that came through a refill is category 1
// where the refill delivers no expected definition, 2 where it delivers one on some path. A pack's base counts as destroyed (8, 9)
// where the pack held the expected predicate until another instruction wrote the register; else the match is missing (3, 4). Tested
// by the memcheck_*_test.cpp files; by guarded_walk_test.cpp, doubtful_guards_test.cpp, deep_check_test.cpp, explain_test.cpp and
// report_test.cpp in detail.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/allocator.h"
#include "oracles/judge.h"
#include "oracles/memcheck/mismatch.h"

namespace regduel::oracles {

// The knobs of source 000 "Knob Interactions".
struct MemcheckOptions {
  // DUMPIR=AllocateRegisters (id 266): one block a mismatch in the report, instead of the suggestion to ask for them.
  bool dump_ir = false;
  bool ignore_potential_mixed_size_problems = false;  // IgnorePotentialMixedSizeProblems: no mixed-size hint with code 6
  bool is_on = true;  // memcheck, the flag at function+1384: where it is off, the verifier is not called
};
inline constexpr std::string_view kSwitchedOff = "memcheck is switched off (knob memcheck=0)";
[[nodiscard]] std::span<const ir::KnobInfo> memcheck_knobs();
// NAME or NAME=VALUE. The error is one line that names the knob and the values that it takes.
[[nodiscard]] std::expected<void, std::string> set_knob(MemcheckOptions& options, std::string_view name,
                                                        std::optional<std::string_view> value);

// The fast check goes through the whole function (fast_check.h). Only the instructions that it suspects get the deep check
// (deep_check.h). Cost: near-linear in the size of both programs.
[[nodiscard]] MemcheckDetails memcheck(const Case& c, MemcheckScope scope = MemcheckScope::Everything);
// The report of source 000 "Reporter Output Format" for one allocation attempt, with the suggestion once at most, then the two
// counters. Without a mismatch: the counters alone. If the knob memcheck is off: a line that it was not run.
[[nodiscard]] std::string print_memcheck(const Case& c, const MemcheckOptions& options = {});
[[nodiscard]] std::string print_memcheck(const MemcheckDetails& details, const MemcheckOptions& options = {});

// The result of memcheck_judge() under these options; skipped if the knob memcheck is off.
[[nodiscard]] JudgeResult judge_memcheck(const Case& c, const MemcheckOptions& options);
[[nodiscard]] const Judge& memcheck_judge();

}  // namespace regduel::oracles
