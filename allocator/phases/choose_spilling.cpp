// See choose_spilling.h.

#include "allocator/phases/choose_spilling.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

void show_to_listener(const Run& run) {
  const ProgramFacts& facts = run.facts;
  if (RunListener* const listener = run.instruments.listener)
    listener->begin_run(facts.f, facts.first_of, !facts.live.range(listener->vreg().index()).empty());
}

// The program with its live ranges split, and the state of the split strategy.
struct SplitRun {
  //   victims   of the first round of whole ranges: those of files that are not split have to leave in any case
  SplitRun(const Run& whole, SplitProgram program, const SpillPhase& victims)
      : facts(whole.facts, std::move(program)), run(facts, whole), progress(run), rounds(progress) {
    show_to_listener(run);
    rounds.begin_with(victims);
    progress.insert_spill_code();
  }

  ProgramFacts facts;
  Run run;
  Progress progress;
  SpillPhase rounds;
};

Result run_fallback(Progress& progress, SpillPhase& rounds) {
  const Run& run = progress.run;
  if (REGDUEL_PLANTED("fatpoint-fails-instead-of-falling-back")) return impossible_result(run, progress.first_misfit);
  if (const auto placed = rounds.run_fallback()) return emit_spilled(progress, *placed, true);
  const std::vector<ir::VReg>& vregs = run.facts.f.vregs;
  const bool has_architectural = std::any_of(vregs.begin(), vregs.end(), [](const ir::VReg& v) { return v.is_architectural(); });
  REGDUEL_CHECK(has_architectural, fmt::format("@{}: the last fallback does not fit", run.facts.f.name));
  return impossible_result(run, progress.first_misfit);
}

}  // namespace

Result choose_spilling(Progress& progress, SpillPhase& rounds) {
  const Run& run = progress.run;
  rounds.find_first_victims();
  const bool may_split = run.facts.knobs[Knob::SplitLiveRanges] != 0 && run.instruments.may("split-live-ranges");
  const auto is_wanted = [&](std::int64_t moves_of_pieces) {
    const std::int64_t whole = rounds.moves_of_victims(false), in_pieces = moves_of_pieces + rounds.moves_of_victims(true);
    run.instruments.line("live ranges: weighted bytes moved at first sight {} if split, {} if not", in_pieces, whole);
    const bool recomputes_all = in_pieces == 0 && whole == 0;  // in pieces that is done less often
    return in_pieces < whole || recomputes_all;
  };
  auto program = may_split ? split_program(run, progress.plan, rounds.scarce_files(), is_wanted) : std::nullopt;
  if (REGDUEL_PLANTED("fatpoint-loss-memory-too-soon")) return run_fallback(progress, rounds);
  if (program) {
    SplitRun split(run, std::move(*program), rounds);
    if (const auto placed = split.rounds.run_rounds()) return emit_spilled(split.progress, *placed);
    show_to_listener(run);
  }
  const auto placed = rounds.run_rounds();
  return placed ? emit_spilled(progress, *placed) : run_fallback(progress, rounds);
}

}  // namespace regduel::allocator
