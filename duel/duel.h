// One duel: a program, a target, limits; every duelist allocates, every judge looks at every result.
//
// The same body serves `regduel duel`, `regduel fuzz`, the libFuzzer target, its smoke test and the properties.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "duel/allocators.h"
#include "duel/case.h"
#include "ir/allocator.h"
#include "oracles/before.h"
#include "oracles/judge.h"
#include "oracles/metamorphic/metamorphic.h"
#include "oracles/quality/quality.h"

namespace regduel::duel {

// The result of one duelist.
struct Bout {
  std::string allocator;
  // The opinion of each judge on the program, in the order of judging; completeness alone where the allocator failed. A finding of the harness, of the
  // metamorphic judge, or of "disagreement" is a result of its own behind these.
  oracles::Report report;
  std::string unsupported;              // why the allocator does not do such programs; empty = it does
  std::optional<ir::Function> program;  // the allocated program, where there is one
  // The program is of the allocator's own form (ir::OwnRun), and no allocation of the case: that of the run that came off worst.
  bool is_own_form = false;
  // The allocator shows figures alone (figures_only.h): there is no program, and the measures are what it says.
  bool is_figures_only = false;
  oracles::Measures measures;      // recomputed from the program
  std::vector<std::string> notes;  // what the allocator says of its result (ir::Allocation)
  // The fewest bytes of refills that any allocation of straight-line code with so many registers has, where this bound is known
  // (oracles/quality/refill_bound.h).
  std::optional<std::int64_t> fewest_refill_bytes;
  double seconds = 0;                      // of the allocation alone
  std::optional<std::int64_t> heap_bytes;  // the most that it held of this process, where that is counted (heap_use.h)

  [[nodiscard]] bool has_figures() const { return program.has_value() || is_figures_only; }
  // What file R has of it; nothing where the allocator does not say.
  [[nodiscard]] std::optional<std::int64_t> registers() const;
  // pass, fail, inconclusive, or skipped: impossible at this limit, as completeness has proved, or unsupported.
  [[nodiscard]] oracles::Verdict verdict() const;
  [[nodiscard]] std::string reason() const;  // for inconclusive and skipped
  // Of all judges, of completeness, and of the harness itself. Cost: O(findings).
  [[nodiscard]] std::vector<oracles::Finding> findings() const;
  // One a finding; a finding without a program (a crash, an unjustified failure) has a signature too.
  [[nodiscard]] std::vector<std::string> signatures() const;
};

// The opinion of the metamorphic judge on one duelist.
struct MetamorphicBout {
  std::string allocator;
  oracles::MetamorphicResult metamorphic;
};

struct Duel {
  std::vector<Bout> bouts;                   // in the order of the duelists
  std::vector<MetamorphicBout> metamorphic;  // likewise, where it was asked; else empty

  // fail if any bout failed, else inconclusive if any is, else pass if any is, else skipped.
  [[nodiscard]] oracles::Verdict verdict() const;
};

struct DuelOptions {
  std::span<const ir::Allocator* const> duelists;
  ir::Limits limits = {};
  Knobs knobs = {};                          // each duelist gets those that it knows
  std::span<const std::string> judges = {};  // the names of those to ask (oracles/judges.h); empty = all
  // Asks each duelist again about variants of the program (oracles/metamorphic): nine allocations more, with as much fuel as they take.
  bool metamorphic = false;
  // The other functions of the program's file (Case::callees).
  std::span<const ir::Function> callees = {};
  ir::Fuel* fuel = nullptr;  // of each duelist; null = as much as it takes. The last duelist leaves there what it spent
};

// Each duelist allocates, each judge looks at each result. Where one duelist failed, as completeness proved rightly, and another one succeeded to
// the satisfaction of all judges, these contradict each other: the finding "disagreement/completeness-vs-success" of the bout that succeeded.
// Several duels over one program share `before`, so that the judges prepare it once (oracles/before.h).
// Where the program has callees, each duelist allocates them too, and a bout fails by what the judge of the file as a whole finds in the
// program (oracles/calls/). Files whose calls list less than the callees' ABI lets them write are not judged: no allocator sees that.
//   Requires  a program that is well-formed for its target, over vregs.
// Never throws for what an allocator does: an internal error is a finding ("harness/internal-error"), so are an ill-formed result
// ("harness/ill-formed"), a knob that the allocator refuses ("harness/bad-knob"), and what an external allocator does instead of
// answering ("harness/broken-hang" and the like, duel/exec/exec_allocator.h).
[[nodiscard]] Duel duel(const oracles::Before& before, const DuelOptions& options);
// The duel of a case, with its limits and knobs in place of those of the options.
[[nodiscard]] Duel duel(const Case& c, DuelOptions options);

// Adds the finding "disagreement/completeness-vs-success" where duelists of `d` contradict each other at these limits: a part of duel().
//   Cost  nothing where they agree.
void add_completeness_disagreement(Duel& d, const oracles::Before& before, const ir::Limits& limits);

}  // namespace regduel::duel
