// See hunt.h.
#include "trial/planted/hunt.h"

#include <algorithm>
#include <chrono>

#include "base/edges.h"
#include "duel/case_file.h"
#include "fuzz/explore/explorer.h"
#include "fuzz/triage/reduce.h"

namespace regduel::fuzz {

Catch hunt(const HuntOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  ExplorerOptions explorer_options;
  explorer_options.seed = options.seed;
  explorer_options.most_instructions = 600;
  Explorer explorer(explorer_options);
  for (const FuzzInput& seed : options.seeds) explorer.add_seed(seed);
  const std::span<const ir::Allocator* const> duelists =
      options.duelists.empty() ? all_duelists() : std::span<const ir::Allocator* const>(options.duelists);
  Catch result;
  const auto start = Clock::now();
  while (since(start) < options.seconds) {
    const FuzzInput input = explorer.next();
    ++result.inputs;
    clear_edges();
    const Duel d = run_duel(input, duelists);
    if (d.verdict() != oracles::Verdict::Fail) {
      explorer.learn(input, features_of(input, d));
      continue;
    }
    result.seconds = since(start);
    result.found = true;
    for (const Bout& b : d.bouts)
      if (b.verdict == oracles::Verdict::Fail && result.failure.allocator.empty())
        result.failure = {b.allocator, b.signatures().front()};
    result.instructions_found = input.program.insts.size();
    const auto reducing = Clock::now();
    const Reduced reduced = reduce(input, [&](const FuzzInput& c) { return reproduces(c, result.failure); });
    result.reduce_seconds = since(reducing);
    result.instructions = reduced.input.program.insts.size();
    const std::vector<Failure> left = failures_of(reduced.input, duelists);
    result.keeps_signature = std::any_of(left.begin(), left.end(), [&](const Failure& f) {
      return f.allocator == result.failure.allocator && f.signature == result.failure.signature;
    });
    result.reduced = print_case(reduced.input);
    return result;
  }
  result.seconds = since(start);
  return result;
}

}  // namespace regduel::fuzz
