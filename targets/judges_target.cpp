// The target judges: an allocation is damaged, or made in ignorance of a rule, and all judges are asked. No judge may crash on a
// pair that no allocator writes, and a static judge has to object to every pair that changes the trace or breaks the rule.
//
// Allocator, operator and place are drawn from the bytes of the input, so that inputs that differ in any byte are other faults.
// (trial/faults/faults.h does the same to the standard mix, and counts.)
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/random.h"
#include "duel/case.h"
#include "duel/duel.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "targets/targets.h"
#include "trial/faults/faults.h"
#include "trial/faults/operators.h"
#include "trial/faults/patterns.h"
#include "trial/faults/relax.h"

namespace regduel::targets {
namespace {

using oracles::Verdict;

constexpr std::size_t kLargest = 2000;  // instructions after allocation: beyond, one input takes longer than it is worth
constexpr int kFaults = 3, kOperatorsTried = 12;

// The pair can be given to `regduel verify` as it stands.
std::string tell(std::string_view what, std::string_view by, const oracles::Case& c, std::string_view detail) {
  std::string limits;
  for (const ir::RegFile file : ir::kAllFiles) limits += fmt::format(" {}={}", ir::name(file), c.limits.of(file));
  return fmt::format("FINDING judges: {} ({})\n{}\n// before, for {}, limits{}\nrir 1\n{}\n// after\nrir 1\n{}", what, by, detail,
                     c.target.name, limits, ir::print(c.before), ir::print(c.after));
}

bool has_static_objection(const oracles::Report& report) {
  return std::any_of(report.results.begin(), report.results.end(), [](const oracles::JudgeResult& r) {
    const oracles::Judge* judge = oracles::find_judge(r.judge);
    return judge != nullptr && r.verdict == Verdict::Fail && r.judge != "quality" && trial::is_static(*judge);
  });
}
bool has_changed_trace(const oracles::Report& report) {
  const oracles::JudgeResult* execution = report.result_of("execution");
  return execution != nullptr && execution->verdict == Verdict::Fail;
}

bool is_contradictory(const oracles::Report& report) {
  const oracles::JudgeResult* disagreement = report.result_of("disagreement");
  return disagreement != nullptr && disagreement->verdict == Verdict::Fail;
}

std::optional<std::string> try_relaxed(const duel::Case& input, const ir::Allocator& allocator, Random& random) {
  const trial::Relaxation kind = trial::kAllRelaxations[random.below(trial::kNumRelaxations)];
  const auto relaxed = trial::relax(input.program, *input.target, kind);
  if (!relaxed) return std::nullopt;
  const auto allocation =
      allocator.allocate(*relaxed, *input.target, {.limits = input.limits, .knobs = duel::known_to(allocator, input.knobs)});
  if (!allocation || allocation->program.insts.size() > kLargest) return std::nullopt;
  const ir::Function after = trial::restore(input.program, allocation->program, kind);
  if (!ir::check(after, 1).empty()) return std::nullopt;
  const oracles::Case c{input.program, after, *input.target, input.limits};
  const oracles::Report report = oracles::judge(c);
  const trial::Truth is = trial::truth(c, kind);
  const bool objects = has_static_objection(report);
  if (is == trial::Truth::Broken && !objects) return tell("a broken rule that no judge saw", name(kind), c, trial::summary(report));
  if (is_contradictory(report)) return tell("judges that contradict each other", name(kind), c, trial::summary(report));
  if (is == trial::Truth::Kept && objects)
    return tell("an objection where the rule happens to be kept", name(kind), c, trial::summary(report));
  return std::nullopt;
}

std::optional<std::string> try_damaged(const duel::Case& input, const ir::Allocator& allocator, Random& random) {
  const auto allocation =
      allocator.allocate(input.program, *input.target, {.limits = input.limits, .knobs = duel::known_to(allocator, input.knobs)});
  if (!allocation || allocation->program.insts.size() > kLargest) return std::nullopt;
  ir::Function after = allocation->program;
  ir::Limits limits = input.limits;
  if (random.chance(50)) {
    const trial::Pattern& pattern = trial::patterns()[random.below(static_cast<std::uint32_t>(trial::patterns().size()))];
    if (auto patterned = pattern.apply({input.program, after, *input.target, limits}, random)) {
      after = std::move(patterned->program);
      limits = patterned->limits;
    }
  }
  const oracles::Case valid{input.program, after, *input.target, limits};
  if (const oracles::Report plain = oracles::judge(valid); plain.verdict() == Verdict::Fail)
    return tell("an objection to a correct allocation", allocator.name(), valid, trial::summary(plain));

  const trial::Site site({input.program, after, *input.target, limits});
  const auto operators = trial::fault_operators();
  int faults = 0;
  for (int tried = 0; tried < kOperatorsTried && faults < kFaults; ++tried) {
    const trial::FaultOperator& op = operators[random.below(static_cast<std::uint32_t>(operators.size()))];
    const auto damaged = trial::inject(op, site, random);
    if (!damaged) continue;
    ++faults;
    const oracles::Case wrong{input.program, damaged->program, *input.target, limits};
    const oracles::Report report = oracles::judge(wrong);
    if (is_contradictory(report)) return tell("judges that contradict each other", op.name, wrong, trial::summary(report));
    if (has_changed_trace(report) && !has_static_objection(report))
      return tell("a fault that only the execution shows", op.name, wrong, trial::summary(report));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> try_judges(Bytes bytes) {
  std::uint64_t seed = bytes.size();
  for (const std::uint8_t b : bytes) seed = hash_combine(seed, b);
  Random random(seed);
  const duel::Case input = duel::decode_case(bytes);
  const auto duelists = duel::all_duelists();
  const ir::Allocator& allocator = *duelists[random.below(static_cast<std::uint32_t>(duelists.size()))];
  try {
    return random.chance(25) ? try_relaxed(input, allocator, random) : try_damaged(input, allocator, random);
  } catch (const InternalError& e) {
    return fmt::format("FINDING judges: internal error: {}\nrir 1\n{}", e.what(), ir::print(input.program));
  }
}

}  // namespace regduel::targets
