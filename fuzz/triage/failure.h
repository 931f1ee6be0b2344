// The failures of a case, for people, and as a question that a reducer puts again after every step.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "duel/case.h"
#include "duel/duel.h"
#include "ir/allocator.h"

namespace regduel::fuzz {

// An allocation of a program of the corpus takes milliseconds; what takes this long when it is asked again hangs. Of the processor.
inline constexpr int kHangSeconds = 2;

// A judge's finding about one allocator's result: the signature says all that is kept.
struct Failure {
  std::string allocator;
  std::string signature;  // oracles::signature, or "harness/internal-error" and the like
};
// Whether the process that tries it ends of it, or is ended: an allocator of ours, or a judge, crashes or hangs.
[[nodiscard]] bool ends_the_process(const Failure& failure);
// Whether to see it again takes seconds.
[[nodiscard]] bool is_hang(const Failure& failure);
// Those whose proofs such a failure beats, without which it does not show; none where no proof is beaten.
[[nodiscard]] std::vector<const ir::Allocator*> provers_beaten(const Failure& failure);
// Asks that judge alone where one judge is enough. Cost: one allocation (metamorphic: ten) and what the judge takes.
[[nodiscard]] bool reproduces(const duel::Case& input, const Failure& failure, ir::Fuel* fuel = nullptr);
// All failures of a case, in the order of the duelists and of their findings, each once.
//   duelists   all where empty
[[nodiscard]] std::vector<Failure> failures_of(const duel::Case& input, std::span<const ir::Allocator* const> duelists = {},
                                               bool metamorphic = false);

// The failure that ends the process: the allocator, or a judge of its result, crashes ("harness/crash-SIGSEGV@allocation") or takes longer
// than `seconds` ("harness/hang@judgement"). The question is put in processes of its own. Cost: two allocations, one judgement.
[[nodiscard]] std::optional<Failure> crash_of(const duel::Case& input, const ir::Allocator& allocator, int seconds = kHangSeconds,
                                              ir::Fuel* fuel = nullptr);

// The same for people: each finding of a duel, then the case as an .rir file (case_file.h).
[[nodiscard]] std::string describe(const duel::Case& input, const duel::Duel& duel);
// describe() of the duel of all allocators, each behind a series of passes where a knob says their order; nullopt where every bout
// ended in pass, in inconclusive, or in an impossibility that the judge proved.
[[nodiscard]] std::optional<std::string> find_in(const duel::Case& input);

// A difference of quality between right allocations: `worse` has at least `percent` / 100 times the figure (0 counts as 1) of
//
//   a gap      `better`: registers, spill_store_bytes, spill_load_bytes, weighted_spill_bytes
//   a cliff    `worse` itself, where `better` is empty: heap_bytes or microseconds that it usually takes for programs of that size
//              (usual_cost.h); or of spill bytes those that it has with one general register less
struct Gap {
  std::string worse, better;
  std::string figure;
  int percent = 150;
  [[nodiscard]] bool is_cliff() const { return better.empty(); }
};
// "briggs/fatpoint:spill_load_bytes>=1.5": the form of the command line, and of a reduced case's head.
[[nodiscard]] std::expected<Gap, std::string> parse_gap(std::string_view text);
// "fatpoint:heap_bytes>=4", likewise.
[[nodiscard]] std::expected<Gap, std::string> parse_cliff(std::string_view text);
[[nodiscard]] std::string to_string(const Gap& gap);
// Cost: two allocations, judged by all.
//   fuel   of the worse allocator
[[nodiscard]] bool reproduces(const duel::Case& input, const Gap& gap, ir::Fuel* fuel = nullptr);
// How many hundredths of the better figure the worse one is, the better counting as 1 at least; nothing where not all passed, or a
// figure is beyond counting, or there is nothing to hold it against.
//   duel     of the input, by the allocators of the gap
//   Cost  nothing for a gap; for a cliff an allocation, of time some
[[nodiscard]] std::optional<std::int64_t> percent_of(const duel::Case& input, const duel::Duel& duel, const Gap& gap);

// A gap as campaigns look for it: of the worse allocator, under the signature "gap/" or "cliff/" and to_string(gap). It is an
// observation and no failure, and is asked again, reduced and bisected as one.
[[nodiscard]] Failure failure_of(const Gap& gap);
[[nodiscard]] bool is_gap(const Failure& failure);
// Requires is_gap(failure). nullopt where one of the allocators is not here.
[[nodiscard]] std::optional<Gap> gap_of(const Failure& failure);
// "fatpoint has 3.20 times the registers of briggs".
[[nodiscard]] std::string describe(const Gap& gap, const duel::Case& input, std::int64_t percent);

}  // namespace regduel::fuzz
