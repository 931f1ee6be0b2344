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

namespace regduel::fuzz {

// What came of one duelist.
struct Bout {
  std::string allocator;
  // pass, fail (see findings), inconclusive, or skipped: impossible at this limit, as the judge has proved, or unsupported.
  oracles::Verdict verdict = oracles::Verdict::Skipped;
  bool is_unsupported = false;          // the allocator says that it does not do such programs, and why (reason)
  std::string reason;                   // for inconclusive and skipped
  std::optional<ir::Function> program;  // the allocated program, where there is one
  oracles::Measures measures;           // recomputed from the program
  std::vector<std::string> notes;       // what the allocator says of its result (ir::Allocation)
  // A bound beside them, where there is one: the fewest bytes of refills that any allocation of straight-line code with so many
  // registers has (oracles/quality/refill_bound.h).
  std::optional<std::int64_t> fewest_refill_bytes;
  std::vector<oracles::Finding> findings;  // of all judges, of completeness, and of the harness itself
  // What each judge said of the program, in the order of judging; completeness where there is no program but a failure.
  struct Opinion {
    std::string judge;
    oracles::Verdict verdict;
    std::string reason;
  };
  std::vector<Opinion> opinions;
  double seconds = 0;                      // of the allocation alone
  std::optional<std::int64_t> heap_bytes;  // the most that it held of this process, where that is counted (heap_use.h)

  // One a finding; a finding without a program (a crash, an unjustified failure) has a signature too.
  [[nodiscard]] std::vector<std::string> signatures() const;
};

// What the metamorphic judge said of one duelist.
struct MetamorphicBout {
  std::string allocator;
  oracles::MetamorphicResult metamorphic;
};

struct Duel {
  std::vector<Bout> bouts;                   // in the order of the duelists
  std::vector<MetamorphicBout> metamorphic;  // likewise, where it was asked (metamorphic_bout.h); else empty

  // fail if any bout failed, else inconclusive if any is, else pass if any is, else skipped.
  [[nodiscard]] oracles::Verdict verdict() const;
};

// Requires: `program` well-formed for `target`, over vregs. Each duelist gets those of the knobs that it knows.
// Never throws for what an allocator does: an internal error of one is a finding ("harness/internal-error"), so are an
// ill-formed result ("harness/ill-formed"), a knob that it refuses ("harness/bad-knob"), and what an external allocator does
// instead of answering ("harness/broken-hang" and the like, duel/exec/exec_allocator.h).
//   judges   the names of those to ask (oracles/judges.h), all where empty
//   fuel     of each duelist; null = as much as it takes. What the last one spent is left there
[[nodiscard]] Duel duel(const ir::Function& program, const ir::Target& target, const ir::Limits& limits,
                        std::span<const ir::Allocator* const> duelists, const Knobs& knobs = {},
                        std::span<const std::string> judges = {}, ir::Fuel* fuel = nullptr);
// The same for one of several duels over a program: what the judges need of it is made once (oracles/before.h).
[[nodiscard]] Duel duel(const oracles::Before& before, const ir::Limits& limits, std::span<const ir::Allocator* const> duelists,
                        const Knobs& knobs = {}, std::span<const std::string> judges = {}, ir::Fuel* fuel = nullptr);

// Knobs for the duelists, drawn from their samples: none in half of all draws, else each with one chance in four; and always the
// order of a series of passes (passes/series.h). The same seed draws the same for the same duelists.
[[nodiscard]] Knobs draw_knobs(std::span<const ir::Allocator* const> duelists, std::uint64_t seed);
// Those of the knobs that this allocator knows.
[[nodiscard]] Knobs known_to(const ir::Allocator& allocator, const Knobs& knobs);

}  // namespace regduel::fuzz
