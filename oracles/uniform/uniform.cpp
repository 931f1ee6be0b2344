// The analysis without damage, what is not shared in it, and the analysis with the damage; see uniform.h. As in symbolic.cpp, a
// second, slower analysis follows in a program with guards, and only operands that both reject are wrong.

#include "oracles/uniform/uniform.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "oracles/before.h"
#include "oracles/collector.h"
#include "oracles/symbolic/fixed_point.h"
#include "oracles/symbolic/plan.h"
#include "oracles/symbolic/settled.h"
#include "oracles/uniform/copied_out.h"
#include "oracles/uniform/damage.h"
#include "oracles/uniform/escapes.h"
#include "oracles/uniform/shared_values.h"
#include "oracles/uniform/sources.h"

namespace regduel::oracles {
namespace uniform {
namespace {

using symbolic::FixedPoint;
using symbolic::Plan;
using symbolic::Step;
using symbolic::Violation;
using symbolic::ViolationPlace;

constexpr std::string_view kName = "uniform";
constexpr int kMostChoices = 8;  // of names, that are tried in a program that fails

// The places at which checks fail, each with its violation.
class Failures final : public symbolic::ViolationListener {
 public:
  explicit Failures(const Plan& plan) : plan_(plan) {}
  void violation(const Violation& l) override { found.emplace(place_of(plan_, l), l); }

  std::map<ViolationPlace, Violation> found;

 private:
  const Plan& plan_;
};

// What an analysis rejects without the damage, looked for when it is first asked for.
class RejectedAnyway {
 public:
  RejectedAnyway(const Plan& plan, FixedPoint& analysis) : plan_(plan), analysis_(analysis) {}

  [[nodiscard]] const std::map<ViolationPlace, Violation>& places() {
    if (!seen_) {
      seen_.emplace(plan_);
      for (const std::uint32_t b : plan_.order) analysis_.walk(b, &*seen_);
    }
    return seen_->found;
  }

 private:
  const Plan& plan_;
  FixedPoint& analysis_;
  std::optional<Failures> seen_;
};

// The failures with the damage that are none without, of all choices of names; nullopt where the states do not settle.
struct Outcome {
  std::map<ViolationPlace, Violation> failures;
  std::vector<std::uint32_t> spoilt_by;  // steps behind which something is destroyed
};
//   sound     settled, with so many tokens
//   sources   of escapes; empty = not looked for
//   anyway    what all of them reject does not count
std::optional<Outcome> judge_with(const Case& c, Plan& plan, const std::vector<char>& declared,
                                  std::span<const std::uint32_t> sources, FixedPoint& sound, int most_tokens,
                                  std::span<RejectedAnyway* const> anyway) {
  SharedValues shared(c, plan, sound, declared);
  const auto none_escapes = [&] { return !sources.empty() && read_shared(plan, sound, shared, sources); };
  if (none_escapes() || (shared.add_marks_before_branches() && none_escapes())) return Outcome{};
  Damages damages = find_damages(plan, sound, shared);
  if (damages.empty()) return Outcome{};
  shared.add_heads();
  if (none_escapes()) return Outcome{};
  damages = find_damages(plan, sound, shared);
  if (damages.empty()) return Outcome{};
  Outcome outcome;
  bool has_others = true;
  for (int choices = 1; has_others; ++choices) {
    Destroyer destroyer(plan, damages);
    FixedPoint spoilt(plan, most_tokens, &destroyer);
    if (!spoilt.settle()) return std::nullopt;
    if (!spoilt.state().has_violation()) return Outcome{};
    Failures with(plan);
    for (const std::uint32_t b : plan.order) spoilt.walk(b, &with);
    std::erase_if(with.found, [&](const auto& f) {
      return std::ranges::all_of(anyway, [&](RejectedAnyway* rejected) { return rejected->places().contains(f.first); });
    });
    if (with.found.empty()) return Outcome{};
    std::vector<std::uint32_t> wanted;
    for (const auto& [place, violation] : with.found) wanted.push_back(violation.name);
    outcome.failures.merge(with.found);
    has_others = choices < kMostChoices && damages.choose_others(wanted);
  }
  for (std::uint32_t s = 0; s < plan.steps.size(); ++s)
    if (!damages.behind_steps[s].empty()) outcome.spoilt_by.push_back(s);
  return outcome;
}

// The last step before the failure that put something into a uniform register; the first one behind it where there is none.
ir::InstId spoiler_of(const Case& c, const Plan& plan, const Outcome& outcome, std::uint32_t step) {
  auto at = std::ranges::upper_bound(outcome.spoilt_by, step);
  if (at != outcome.spoilt_by.begin()) --at;
  return at == outcome.spoilt_by.end() ? ir::InstId{} : c.after.insts[plan.steps[*at].inst].id;
}

JudgeResult judge_uniform(const Case& c, bool takes_ways_out) {
  Collector out(kName);
  const std::vector<char> declared = declared_vregs(c.before);
  FoundEscapes escapes;
  if (takes_ways_out) {
    escapes = find_escapes(c, declared);
    if (!escapes.any) return out.finish();
  }
  const std::vector<std::uint32_t>& sources = escapes.sources;
  const auto& states = symbolic::settled(c);
  if (!states) return without_verdict(kName, Verdict::Skipped, states.error());
  auto& [plan, quick, is_settled] = **states;
  const auto not_settled = [] {
    return without_verdict(kName, Verdict::Inconclusive, "the states at the heads of the blocks did not settle");
  };
  if (!is_settled) return not_settled();
  RejectedAnyway by_quick(plan, quick);
  std::optional<Outcome> outcome = judge_with(c, plan, declared, sources, quick, 0, std::array{&by_quick});
  if (!outcome) return not_settled();
  const bool has_guards = symbolic::has_guards(plan);
  // What the quick analysis rejects without the damage may be right without it and wrong with it; symbolic reports what both reject.
  if (has_guards && quick.state().has_violation()) outcome->failures.insert(by_quick.places().begin(), by_quick.places().end());
  if (outcome->failures.empty()) return out.finish();
  if (has_guards) {
    const int most_tokens = symbolic::most_tokens_of(plan);
    FixedPoint sound(plan, most_tokens);
    if (!sound.settle()) return not_settled();
    RejectedAnyway by_sound(plan, sound);
    auto slower = judge_with(c, plan, declared, sources, sound, most_tokens, std::array{&by_quick, &by_sound});
    if (!slower) return not_settled();
    std::erase_if(slower->failures, [&](const auto& f) { return !outcome->failures.contains(f.first); });
    outcome = std::move(slower);
  }
  const Violation* unsure = nullptr;
  for (const auto& [place, violation] : outcome->failures) {
    if (violation.is_unsure) {
      unsure = &violation;
      continue;
    }
    const std::uint32_t step = std::get<0>(place);
    out.add("uniform-register", c.after.insts[plan.steps[step].inst].id, violation.operand,
            "was in a register that all threads of a warp share, and differs from thread to thread",
            spoiler_of(c, plan, *outcome, step));
  }
  if (out.empty() && unsure != nullptr)
    return without_verdict(
        kName, Verdict::Inconclusive,
        fmt::format("at #{} too many guards lie on top of one another", c.after.insts[unsure->step->inst].id.value));
  return out.finish();
}

}  // namespace
}  // namespace uniform

JudgeResult uniform_without_ways_out(const Case& c) { return uniform::judge_uniform(c, false); }

const Judge& uniform_judge() {
  static constexpr Judge judge(uniform::kName, "what goes through a register that a warp shares is the same in all its threads",
                               [](const Case& c) { return uniform::judge_uniform(c, true); });
  return judge;
}

}  // namespace regduel::oracles
