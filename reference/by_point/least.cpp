#include "reference/by_point/least.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/planted.h"
#include "reference/by_point/model.h"
#include "reference/by_point/tenants.h"
#include "reference/exact/cheapest_set.h"
#include "reference/program/dead_code.h"
#include "reference/program/lower.h"

namespace regduel::reference {
namespace {

constexpr int kMostRounds = 60, kMostRoundsRelaxed = 5;  // of misfits

// What the program before spilling never needs is left out, and what can be computed again is.
Code lowered(const Problem& problem, Plan& plan) {
  plan = problem.all_in_registers();
  plan.is_left_out.assign(problem.program().insts.size(), 0);
  Code code = lower(problem, plan);
  const std::vector<std::uint8_t> is_dead = drop_dead_code(problem, code, DeadCopies::Pairs);
  for (std::size_t i = 0; i < code.insts.size(); ++i)
    if (is_dead[i] == kNoneReadsIt && code.insts[i].source != kNoSource) plan.is_left_out[code.insts[i].source] = 1;
  plan.undefined_reads = undefined_reads(code);
  for (TempId v = 0; v < code.num_values; ++v)
    if (problem.can_remat(v) && !REGDUEL_PLANTED("exact-split-nothing-is-computed-again")) plan.locations[v] = Location::nowhere();
  code = lower(problem, plan);
  drop_dead_code(problem, code, DeadCopies::Pairs);
  return code;
}

}  // namespace

LeastByPoint least_by_point(const Problem& problem, const ByPointEffort& effort, ir::Fuel* fuel) {
  Plan plan;
  const Code code = lowered(problem, plan);
  const ByPointModel model = model_by_point(problem, code);
  LeastByPoint result;
  result.values = model.values;
  result.elements = model.question.costs.size();
  result.is_relaxed = std::cmp_greater(model.values, effort.most_values);
  CheapestSet set(model.question);
  result.demands = set.drop_weaker_demands();
  const Tenancy tenancy(problem, code, model);
  for (int round = 0; round < (result.is_relaxed ? kMostRoundsRelaxed : kMostRounds); ++round) {
    const CheapestSet::Answer answer = set.solve(effort.conflicts, result.is_relaxed ? 0 : effort.questions);
    result.why_none = "what instructions need does not fit, by point";
    if (answer.is_impossible) break;
    // What misfits demand of a loose model may be more than an allocation needs.
    if (model.is_bounded && (round == 0 || !model.is_loose))
      result.at_least = std::max(result.at_least, model.constant + answer.at_least);
    result.why_none = model.is_loose ? "values are equal in a way that no allocation follows" : "the effort did not suffice";
    if (answer.is_taken.empty() || model.is_loose) break;
    bool is_known = true;
    const auto misfits = tenancy.misfits(answer.is_taken, is_known);
    if (misfits.empty()) {
      result.why_none = "no slot or register is left for what passes through one";
      if (auto written = write_by_point(problem, plan, code, model, answer.is_taken, fuel)) {
        result.allocation = std::move(written->allocation);
        result.at_most = model.constant + written->cost;
        for (const ByPointModel::Saved& s : model.saved)
          if (answer.is_taken[s.element]) result.at_most += model.question.costs[s.element];
      }
      break;
    }
    for (const auto& one_of : misfits) {
      std::vector<CheapestSet::Portion> portions;
      for (const Element e : one_of) portions.push_back({e, 1});
      set.demand(portions, 1);
      ++result.misfits;
    }
  }
  REGDUEL_CHECK(result.at_most < 0 || result.at_most >= result.at_least,
                fmt::format("an allocation costs {}, less than the least, {}, in @{}", result.at_most, result.at_least,
                            problem.program().name));
  return result;
}

}  // namespace regduel::reference
