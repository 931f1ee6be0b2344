// See hunt.h.
#include "trial/planted/hunt.h"

#include <algorithm>
#include <chrono>

#include "base/edges.h"
#include "duel/case_file.h"
#include "fuzz/explore/explorer.h"
#include "fuzz/triage/reduce.h"

namespace regduel::trial {

Catch hunt(const HuntOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  fuzz::ExplorerOptions explorer_options;
  explorer_options.seed = options.seed;
  explorer_options.most_instructions = 600;
  fuzz::Explorer explorer(explorer_options);
  for (const duel::Case& seed : options.seeds) explorer.add_seed(seed);
  const std::span<const ir::Allocator* const> duelists =
      options.duelists.empty() ? duel::all_duelists() : std::span<const ir::Allocator* const>(options.duelists);
  Catch result;
  const auto start = Clock::now();
  while (since(start) < options.seconds) {
    const duel::Case input = explorer.next();
    ++result.inputs;
    clear_edges();
    const duel::Duel d = duel::duel(input, {.duelists = duelists});
    if (d.verdict() != oracles::Verdict::Fail) {
      explorer.learn(input, fuzz::features_of(input, d));
      continue;
    }
    result.seconds = since(start);
    result.found = true;
    for (const duel::Bout& b : d.bouts)
      if (b.verdict() == oracles::Verdict::Fail && result.failure.allocator.empty())
        result.failure = {b.allocator, b.signatures().front()};
    result.instructions_found = input.program.insts.size();
    const auto reducing = Clock::now();
    const fuzz::Reduced reduced = fuzz::reduce(input, [&](const duel::Case& c) { return fuzz::reproduces(c, result.failure); });
    result.reduce_seconds = since(reducing);
    result.instructions = reduced.input.program.insts.size();
    const std::vector<fuzz::Failure> left = fuzz::failures_of(reduced.input, duelists);
    result.keeps_signature = std::any_of(left.begin(), left.end(), [&](const fuzz::Failure& f) {
      return f.allocator == result.failure.allocator && f.signature == result.failure.signature;
    });
    result.reduced = duel::print_case(reduced.input);
    return result;
  }
  result.seconds = since(start);
  return result;
}

}  // namespace regduel::trial
