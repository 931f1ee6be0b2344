// See pairs.h.
#include "trial/faults/pairs.h"

#include <algorithm>

#include "ir/text/text.h"
#include "trial/faults/faults.h"

namespace regduel::trial {
namespace {

constexpr std::uint64_t kPairStream = 0x7061697273;
constexpr std::size_t kMostMissesKept = 100;

}  // namespace

std::span<const PairFault> pair_faults() {
  static const std::vector<PairFault> all = [] {
    std::vector<PairFault> list;
    std::ranges::copy(pass_faults(), std::back_inserter(list));
    std::ranges::copy(file_faults(), std::back_inserter(list));
    std::ranges::copy(uniform_faults(), std::back_inserter(list));
    return list;
  }();
  return all;
}

PairRun run_pair_on(std::uint64_t seed, std::uint64_t index) {
  const auto faults = pair_faults();
  PairRun run;
  run.kind = index % faults.size();
  const PairFault& fault = faults[run.kind];
  const std::uint64_t stream = hash_combine(seed, kPairStream);
  std::vector<FaultMiss> errors;
  // Kinds and allocators take turns, so the subject is one of all that the kind gets.
  const auto subject = draw_subject(stream, index / faults.size(), kLargestSubject, errors);
  if (!errors.empty()) run.miss = std::move(errors[0]);
  if (!subject) return run;
  Random random(hash_combine(stream, index));
  const auto verdicts = fault.make(*subject, random);
  if (!verdicts) return run;
  run.is_subject = true;
  run.accepted = verdicts->right.verdict == oracles::Verdict::Pass;
  run.rejected =
      std::ranges::any_of(verdicts->damaged.findings, [&](const oracles::Finding& f) { return f.category == fault.category; });
  if (run.accepted && run.rejected) return run;
  run.miss = make_miss(run.rejected ? "pair-rejected" : "pair-accepted",
                       {verdicts->before, verdicts->after, subject->target, subject->limits}, seed, index);
  run.miss->operator_name = fault.name;
  run.miss->detail = summary({{run.rejected ? verdicts->right : verdicts->damaged}}) + verdicts->rest;
  return run;
}

void PairTable::add(PairRun run) {
  if (run.miss && misses_.size() < kMostMissesKept) misses_.push_back(std::move(*run.miss));
  if (!run.is_subject) return;
  PairRow& row = rows_[run.kind];
  ++row.made;
  row.accepted += run.accepted ? 1 : 0;
  row.rejected += run.rejected ? 1 : 0;
}

}  // namespace regduel::trial
