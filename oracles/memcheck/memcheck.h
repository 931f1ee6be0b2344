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
// A remat of #id stands for #id where #id may be repeated and each of its operands has the same definitions at the new place as at
// #id before allocation. In a `device` function each `ret` reads the callee-saved registers that the program after writes, and must
// find their entry values. Original copies and phis are moves, so only their guards count as reads.
//
// Guards: a guarded def is a may-def. Where sets differ, the difference is excused if no path that respects the guards shows it
// (a spill store under the guard of the def that it stores).
//
// Out of sight, by construction: anything that leaves every *set* as it was (the right definition by the wrong path, an earlier
// visit's value of the right definition, a spill store under a wrong guard in a refill-modify-store).
//
// Source: source 000 "Post-Allocation Verification" (fast check, deep check, Additions and Removals, the ten categories, counters);
// DECISIONS "memcheck" (precedence 7, 8, 9, 3, 4, 1, 2, 5, 6, 10). Deviates: a wrong value that came through a refill is category 1
// where the refill delivers no expected definition, 2 where it delivers one on some path. A pack's base counts as destroyed (8, 9)
// where the pack held the expected predicate until another instruction wrote the register; else the match is missing (3, 4).
// Tested by memcheck_test.cpp and details_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/report.h"

namespace regduel::oracles {

enum class MemcheckCode {
  None = 0,  // a mismatch on old code
  SpillRefillMismatch = 1,
  RefillReadsUninitialized = 2,
  P2rR2pPatternFailure = 3,
  BitSpillRefillFailure = 4,
  UninitializedValueIntroduced = 5,
  ExtraDefsIntroduced = 6,
  RematerializationMismatch = 7,
  P2rR2pBaseDestroyed = 8,
  BitSpillBaseDestroyed = 9,
  DefinitionsDisappeared = 10,
};
[[nodiscard]] std::string_view slug(MemcheckCode code);  // "memcheck-1-spill-refill-mismatch"
[[nodiscard]] std::string_view text(MemcheckCode code);  // the message of source 000; of code 7 the part without numbers

// An instruction that gives an operand its value, not looked through: a copy, a refill, a p2r is a producer of its own.
struct Producer {
  ir::InstId inst;   // invalid = what the place held at entry
  int operand = -1;  // the def operand; -1 for entry and for what an instruction destroys
  bool is_destroyer = false;
  bool explained = true;  // in Additions and Removals: BENIGN

  friend bool operator==(const Producer& a, const Producer& b) {
    return a.inst == b.inst && a.operand == b.operand && a.is_destroyer == b.is_destroyer;
  }
};

struct OperandMismatch {
  ir::InstId inst;
  int operand = -1;   // operand number; -1 = the callee-saved register `saved` at a ret
  std::string saved;  // its name; empty where it is an operand
  MemcheckCode code = MemcheckCode::None;
  ir::InstId other;         // the offending definition, refill or remat
  ir::InstId remat_of;      // code 7: the old instruction; `other` is the new one
  bool mixed_size = false;  // code 6: a value of 8 or 16 bits takes part
  std::vector<Producer> before, after, additions, removals;
};

// What is wanted of a comparison. The findings of the judge need neither mismatches on old code nor producers.
enum class MemcheckScope : std::uint8_t { Everything, Errors };

struct MemcheckDetails {
  std::string skipped;       // why nothing could be compared; empty = it was
  std::int64_t walked = 0;   // what the comparison cost beyond sets: states of walks under several assumptions at once
  std::string inconclusive;  // where guards were too entangled to decide; empty = nowhere
  std::vector<OperandMismatch> mismatches;  // in program order
  int total_mismatch = 0;                   // instructions with at least one mismatch
  int mismatch_on_old = 0;                  // of these: all their mismatches are of operands without a definition before allocation
};

// The knobs of source 000 "Knob Interactions".
struct MemcheckOptions {
  bool dump_ir =
      false;  // DUMPIR=AllocateRegisters (id 266): one block a mismatch in the report, instead of the suggestion to ask for them
  bool ignore_potential_mixed_size_problems = false;  // IgnorePotentialMixedSizeProblems: no mixed-size hint with code 6
  bool is_on = true;  // memcheck, the flag at function+1384: where it is off, the verifier is not called
};
inline constexpr std::string_view kSwitchedOff = "memcheck is switched off (knob memcheck=0)";
[[nodiscard]] std::span<const ir::KnobInfo> memcheck_knobs();
// NAME or NAME=VALUE. The error is one line that names the knob and the values that it takes.
[[nodiscard]] std::expected<void, std::string> set_knob(MemcheckOptions& options, std::string_view name,
                                                        std::optional<std::string_view> value);

// The whole function is gone through by the fast check (fast_check.h); only where that finds a difference, each instruction gets
// the deep check (deep_check.h). Cost: near-linear in the size of both programs.
[[nodiscard]] MemcheckDetails memcheck(const Case& c, MemcheckScope scope = MemcheckScope::Everything);
// The report of source 000 "Reporter Output Format": for one allocation attempt, so that the suggestion stands there once at most;
// then the two counters. Without a mismatch the counters alone. Where the knob memcheck is off, that it was not run.
[[nodiscard]] std::string print_memcheck(const Case& c, const MemcheckOptions& options = {});
[[nodiscard]] std::string print_memcheck(const MemcheckDetails& details, const MemcheckOptions& options = {});

// What memcheck_judge() says; skipped where the knob memcheck is off.
[[nodiscard]] JudgeResult judge_memcheck(const Case& c, const MemcheckOptions& options);
[[nodiscard]] const Judge& memcheck_judge();

}  // namespace regduel::oracles
