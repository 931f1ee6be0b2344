// See rewritings.h.
#include "trial/faults/rewritings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "duel/allocators.h"
#include "duel/duel.h"
#include "ir/check.h"
#include "trial/faults/faults.h"
#include "trial/faults/patterns.h"

namespace regduel::trial {
namespace {

constexpr std::uint64_t kRewritingStream = 0x72657772697465;
constexpr std::size_t kMostMissesKept = 100;

}  // namespace

RewritingRun run_rewritings_on(std::uint64_t seed, std::uint64_t index) {
  RewritingRun run;
  const std::uint64_t stream = hash_combine(seed, kRewritingStream);
  const auto subject = draw_subject(stream, index, kLargestSubject, run.misses);
  for (FaultMiss& m : run.misses) m.seed = seed;
  if (!subject) return run;
  const oracles::Before before(subject->c.program, subject->target);
  Random random(hash_combine(stream, index));
  for (std::int64_t n = 0; n < kRewritingsOfOne; ++n) {
    ir::Function after = subject->after;
    ir::Limits limits = subject->limits;
    const auto applied = rewrite(subject->c.program, subject->target, after, limits, random);
    if (applied.empty()) continue;
    ++run.rewritings;
    run.patterns.insert(run.patterns.end(), applied.begin(), applied.end());
    const oracles::Case c(before, after, limits);
    const auto miss = [&](std::string kind, const std::string& detail) {
      run.misses.push_back(make_miss(std::move(kind), c, seed, index));
      run.misses.back().detail =
          fmt::format("{}, rewriting {}, patterns: {}\n{}", subject->allocator, n, fmt::join(applied, " "), detail);
    };
    if (const auto faults = ir::check(after, subject->target, 1); !faults.empty()) {
      miss("ill-formed", ir::to_string(after, faults[0]));
      continue;
    }
    oracles::Report report;
    for (const oracles::Judge* judge : fault_judges()) report.results.push_back(judge->judge(c));
    if (report.verdict() == oracles::Verdict::Fail) miss("false-alarm", summary(report));
    for (const oracles::JudgeResult& r : report.results)
      if (r.verdict == oracles::Verdict::Inconclusive) run.undecided.push_back(fmt::format("{}: {}", r.judge, r.reason));
  }
  return run;
}

void RewritingTable::add(RewritingRun run) {
  programs += run.rewritings > 0 ? 1 : 0;
  rewritings += run.rewritings;
  for (const std::string_view name : run.patterns) ++patterns[name];
  judgements_undecided += static_cast<std::int64_t>(run.undecided.size());
  for (std::string& reason : run.undecided) ++reasons[std::move(reason)];
  num_misses += static_cast<std::int64_t>(run.misses.size());
  for (FaultMiss& m : run.misses)
    if (misses.size() < kMostMissesKept) misses.push_back(std::move(m));
}

}  // namespace regduel::trial
