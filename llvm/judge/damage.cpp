#include "llvm/judge/damage.h"

#include <numeric>

#include "base/check_macro.h"
#include "base/random.h"
#include "ir/text/text.h"
#include "oracles/before.h"
#include "trial/faults/faults.h"

namespace regduel::llvm {

Damage damage(const Verdict& good, std::uint64_t seed, int most) {
  const auto target = ir::parse_target(good.target_json, "target");
  const auto before = ir::parse(good.before_rir, "before.rir"), after = ir::parse(good.after_rir, "after.rir");
  REGDUEL_CHECK(target && before && after, "a verdict without its RIR");
  const ir::Limits limits = ir::Limits::of(*target);
  const ir::Function& program = before->functions[0];
  const oracles::Before prepared(program, *target);
  const trial::Site site({program, after->functions[0], *target, limits});
  Damage result;
  Random random(seed);
  const auto operators = trial::fault_operators();
  std::vector<std::size_t> order(operators.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(random, order);
  for (const std::size_t k : order) {
    if (result.injected >= most) break;
    const auto damaged = trial::inject(operators[k], site, random);
    if (!damaged) continue;
    ++result.injected;
    const oracles::Case c(prepared, damaged->program, limits);
    bool is_changing = false, is_caught = false;
    for (const oracles::Judge* judge : trial::fault_judges())
      if (judge->judge(c).verdict == oracles::Verdict::Fail) (trial::is_static(*judge) ? is_caught : is_changing) = true;
    result.changing += is_changing ? 1 : 0;
    result.caught += is_changing && is_caught ? 1 : 0;
    if (is_changing && !is_caught) result.escaped.push_back({std::string(operators[k].name), ir::print(damaged->program)});
  }
  return result;
}

}  // namespace regduel::llvm
