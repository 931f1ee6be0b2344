// See hunt.h.
#include "trial/planted/hunt.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "base/edges.h"
#include "duel/case_file.h"
#include "fuzz/explore/explorer.h"
#include "fuzz/triage/reduce.h"
#include "ir/prover.h"

namespace regduel::trial {

namespace {

constexpr std::size_t kMostInstructions = 600, kMostInstructionsToProve = 60;

// Leaves the loss planted.
bool has_it_anyway(const duel::Case& input, const fuzz::Gap& gap, const PlantedBug& loss) {
  plant("");
  const bool has = fuzz::reproduces(input, gap);
  plant(loss.name);
  return has;
}

}  // namespace

Catch hunt(const HuntOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  fuzz::ExplorerOptions explorer_options;
  explorer_options.seed = options.seed;
  const std::span<const ir::Allocator* const> duelists =
      options.duelists.empty() ? duel::all_duelists() : std::span<const ir::Allocator* const>(options.duelists);
  // A proof takes seconds of a solver where a program is long, and milliseconds where it is short.
  const bool proves =
      std::ranges::any_of(duelists, [](const ir::Allocator* a) { return dynamic_cast<const ir::Prover*>(a) != nullptr; });
  explorer_options.most_instructions = proves ? kMostInstructionsToProve : kMostInstructions;
  fuzz::Explorer explorer(explorer_options);
  explorer.change_knobs_of(duelists);
  for (const duel::Case& seed : options.seeds)
    if (seed.program.insts.size() <= explorer_options.most_instructions) explorer.add_seed(seed);
  std::optional<fuzz::Gap> gap;
  if (options.loss != nullptr) gap = *fuzz::parse_gap(options.loss->gap);
  const auto failure_in = [&](const duel::Case& input, const duel::Duel& d, std::optional<std::int64_t> percent) {
    if (gap) {
      const bool is_gap = percent && *percent >= gap->percent && !has_it_anyway(input, *gap, *options.loss);
      return is_gap ? std::optional(fuzz::failure_of(*gap)) : std::nullopt;
    }
    for (const duel::Bout& b : d.bouts)
      if (b.verdict() == oracles::Verdict::Fail) return std::optional(fuzz::Failure{b.allocator, b.signatures().front()});
    return std::optional<fuzz::Failure>();
  };
  const auto still_fails = [&](const duel::Case& c, const fuzz::Failure& failure) {
    return fuzz::reproduces(c, failure) && (!gap || !has_it_anyway(c, *gap, *options.loss));
  };
  Catch result;
  const auto start = Clock::now();
  while (since(start) < options.seconds) {
    const duel::Case input = explorer.next();
    ++result.inputs;
    clear_edges();
    const duel::Duel d = duel::duel(input, {.duelists = duelists});
    const std::array percents = {gap ? fuzz::percent_of(input, d, *gap) : std::nullopt};
    const std::optional<fuzz::Failure> failure = failure_in(input, d, percents[0]);
    if (!failure) {
      std::vector<std::uint32_t> features = fuzz::features_of(input, d);
      if (gap) fuzz::add_ratios(percents, features);
      explorer.learn(input, features);
      continue;
    }
    result.seconds = since(start);
    result.found = true;
    result.failure = *failure;
    result.instructions_found = input.program.insts.size();
    const auto reducing = Clock::now();
    const fuzz::Reduced reduced = fuzz::reduce(input, [&](const duel::Case& c) { return still_fails(c, *failure); });
    result.reduce_seconds = since(reducing);
    result.instructions = reduced.input.program.insts.size();
    const std::vector<fuzz::Failure> left = fuzz::failures_of(reduced.input, duelists);
    result.keeps_signature = gap ? still_fails(reduced.input, *failure) : std::any_of(left.begin(), left.end(), [&](const auto& f) {
      return f.allocator == failure->allocator && f.signature == failure->signature;
    });
    result.reduced = duel::print_case(reduced.input);
    return result;
  }
  result.seconds = since(start);
  return result;
}

}  // namespace regduel::trial
