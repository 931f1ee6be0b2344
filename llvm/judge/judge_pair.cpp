#include "llvm/judge/judge_pair.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>

#include "llvm/judge/own_run.h"
#include "llvm/judge/width.h"

namespace regduel::llvm {
namespace {

void judge_run(const ir::OwnRun& run, const MirWords& words, Verdict& v) {
  const oracles::Report report = oracles::judge({run.before, run.after, run.target, ir::Limits::of(run.target)});
  v.verdict = report.verdict();
  for (const oracles::JudgeResult& r : report.results) {
    if (r.verdict == oracles::Verdict::Inconclusive) v.reason += (v.reason.empty() ? "" : "; ") + r.judge + ": " + r.reason;
    for (const oracles::Finding& f : r.findings) v.findings.push_back(words.translate(f));
  }
}

}  // namespace

Verdict judge_pair(const Tables& tables, const DumpPair& pair, bool keep_rir) {
  const auto begin = std::chrono::steady_clock::now();
  Verdict v{
      .function = pair.before->function, .allocator = pair.before->allocator, .pass = pair.after->pass, .run = pair.before->run};
  auto mapped = map_pair(tables, *pair.before, *pair.after);
  if (!mapped) v.refusal = mapped.error();
  else {
    v.counts = mapped->counts;
    const auto rir = std::make_shared<RirPair>(std::move(*mapped));
    const std::shared_ptr<const Tables> shared(std::shared_ptr<void>(), &tables);  // which outlive the verdict's words
    if (const auto run = own_run(rir, shared)) judge_run(*run, MirWords(rir, shared), v);
    else v.refusal = run.error();
    if (auto narrow = judge_width(tables, rir->cut_before, rir->cut_after); !v.refusal && !narrow.empty()) {
      v.verdict = oracles::Verdict::Fail;
      std::ranges::move(narrow, std::back_inserter(v.findings));
    }
    if (keep_rir || !v.findings.empty() || v.refusal)
      v.before_rir = std::move(rir->before), v.after_rir = std::move(rir->after), v.target_json = std::move(rir->target);
  }
  v.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return v;
}

}  // namespace regduel::llvm
