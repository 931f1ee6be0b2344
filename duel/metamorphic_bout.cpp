// See metamorphic_bout.h.
#include "duel/metamorphic_bout.h"

#include <algorithm>

#include "oracles/agreement/disagreement.h"

namespace regduel::fuzz {

void add_metamorphic(Duel& d, const oracles::Before& before, const ir::Limits& limits,
                     std::span<const ir::Allocator* const> duelists, const Knobs& knobs) {
  for (std::size_t k = 0; k < duelists.size(); ++k) {
    ir::AllocOptions options;
    options.limits = limits;
    options.knobs = known_to(*duelists[k], knobs);
    d.metamorphic.push_back({std::string(duelists[k]->name()), oracles::judge_metamorphic(before, *duelists[k], options)});
    const oracles::JudgeResult& result = d.metamorphic.back().metamorphic.result;
    if (result.verdict != oracles::Verdict::Fail || k >= d.bouts.size()) continue;
    d.bouts[k].verdict = oracles::Verdict::Fail;
    d.bouts[k].findings.insert(d.bouts[k].findings.end(), result.findings.begin(), result.findings.end());
  }
}

void add_completeness_disagreement(Duel& d, const oracles::Before& before, const ir::Limits& limits) {
  const bool impossible = std::any_of(d.bouts.begin(), d.bouts.end(), [](const Bout& b) {
    return b.verdict == oracles::Verdict::Skipped && !b.program && !b.is_unsupported;
  });
  if (!impossible) return;
  for (Bout& b : d.bouts) {
    if (b.verdict != oracles::Verdict::Pass || !b.program) continue;
    oracles::Report passed;  // all judges passed, as the verdict says
    passed.results.push_back({"structure", oracles::Verdict::Pass, "", {}});
    oracles::JudgeResult result = oracles::judge_success_against_completeness(passed, {before, *b.program, limits});
    if (result.verdict != oracles::Verdict::Fail) continue;
    b.verdict = oracles::Verdict::Fail;
    b.findings.insert(b.findings.end(), result.findings.begin(), result.findings.end());
  }
}

}  // namespace regduel::fuzz
