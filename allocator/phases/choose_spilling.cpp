// See choose_spilling.h.

#include "allocator/phases/choose_spilling.h"

#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

// Weighted bytes that each strategy is expected to move, before anything is assigned: those of the split live ranges, and those of
// the first victims.
struct Estimate {
  std::int64_t split = 0, whole = 0;

  // Splitting is tried first unless its estimate is over 1.2 times that of whole ranges.
  [[nodiscard]] bool prefers_whole_first() const { return whole > 0 && 10 * split > 12 * whole; }
  // The other strategy is tried if it could still win. Whole ranges may end at 0.6 of their estimate, because one refill can serve
  // several uses; split ranges never end below theirs.
  [[nodiscard]] bool may_beat_split(const Result& split_result) const { return split_result.cost.sum() >= whole / 10 * 6; }
  [[nodiscard]] bool may_beat_whole(const Result& whole_result) const { return whole_result.cost.bytes > split; }
  // Between results of the same cost.
  [[nodiscard]] bool prefers_whole() const { return 10 * split >= 8 * whole; }
};

// The state of a strategy, and its result if it has one.
struct Candidate {
  Progress& progress;
  SpillPhase& rounds;
  SpillStrategy strategy;
  std::optional<Result> result = std::nullopt;

  // Abandons the rounds once they move more than twice what the other result costs. Shared refills and wide accesses cannot make up
  // for that.
  //   other   null = the other strategy has no result
  void run(const Candidate* other) {
    constexpr std::int64_t kHopeless = 2;
    const bool has_rival = other != nullptr && other->result;
    const std::int64_t most_moved = has_rival ? kHopeless * other->result->cost.sum() : std::numeric_limits<std::int64_t>::max();
    if (REGDUEL_PLANTED("fatpoint-loss-memory-too-soon")) return;
    if (const auto homes = rounds.run_rounds(most_moved)) result = emit_spilled(progress, *homes, strategy);
  }
};

// The program with its live ranges split, and the state of the split strategy.
struct SplitRun {
  SplitRun(const Run& whole, SplitProgram program)
      : facts(whole.facts, std::move(program)), run(facts, whole), progress(run), rounds(progress) {
    if (RunListener* const listener = run.instruments.listener)
      listener->begin_run(facts.f, facts.first_of, !facts.live.range(listener->vreg().index()).empty());
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
  if (const auto homes = rounds.run_fallback()) return emit_spilled(progress, *homes, SpillStrategy::Whole, true);
  const std::vector<ir::VReg>& vregs = run.facts.f.vregs;
  const bool has_architectural = std::any_of(vregs.begin(), vregs.end(), [](const ir::VReg& v) { return v.is_architectural(); });
  REGDUEL_CHECK(has_architectural, fmt::format("@{}: the last fallback does not fit", run.facts.f.name));
  return impossible_result(run, progress.first_misfit);
}

}  // namespace

Result choose_spilling(Progress& progress, SpillPhase& rounds, const Replay& replay) {
  const Run& run = progress.run;
  const Instruments& instruments = run.instruments;
  rounds.find_first_victims();
  const bool may_split = replay.strategy != SpillStrategy::Whole && run.facts.knobs[Knob::SplitLiveRanges] != 0 &&
                         instruments.may("split-live-ranges");
  auto program = may_split ? split_program(run, progress.plan, rounds.scarce_files()) : std::nullopt;
  const bool can_split = program.has_value();
  const Estimate estimate{can_split ? program->moves : 0, rounds.moves_of_victims()};
  if (can_split)
    instruments.line("live ranges: weighted bytes moved at first sight {} if split, {} if not", estimate.split, estimate.whole);

  Candidate whole{progress, rounds, SpillStrategy::Whole};
  std::unique_ptr<SplitRun> split_run;  // made only if the strategy is tried
  std::optional<Candidate> split;
  const auto try_split = [&] {
    split_run = std::make_unique<SplitRun>(run, std::move(*program));
    split.emplace(Candidate{split_run->progress, split_run->rounds, SpillStrategy::Split});
    split->run(&whole);
    if (!split->result) split.reset();
  };

  // One strategy is enough if it is prescribed and has a result, or if the first result counts.
  const bool is_one_enough = replay.strategy || is_first_enough(run.facts);
  const bool begins_whole = !replay.strategy && estimate.prefers_whole_first();
  if (can_split && !begins_whole) try_split();
  if (!split || (!is_one_enough && estimate.may_beat_split(*split->result))) whole.run(split ? &*split : nullptr);
  if (can_split && begins_whole && (!whole.result || (!is_one_enough && estimate.may_beat_whole(*whole.result)))) try_split();

  if (split && whole.result) {
    const std::int64_t split_cost = split->result->cost.sum(), whole_cost = whole.result->cost.sum();
    instruments.line("live ranges: weighted cost {} if split, {} if not", split_cost, whole_cost);
    if (whole_cost < split_cost || (whole_cost == split_cost && estimate.prefers_whole())) {
      split.reset();
      split_run.reset();
    }
  }
  if (split) return std::move(*split->result);
  if (!whole.result) whole.result = run_fallback(progress, rounds);
  Result result = std::move(*whole.result);
  result.has_nothing_split = may_split && !can_split;
  return result;
}

}  // namespace regduel::allocator
