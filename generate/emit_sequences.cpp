// Emitters of sequences: cliffs of pressure, first defs under a guard, runs under one guard. See emitters.h.
#include <algorithm>
#include <utility>
#include <vector>

#include "generate/emit.h"
#include "generate/emitters.h"

namespace regduel::generate {

using ir::Op;
using ir::VRegId;

// Values pile up to about a usual limit, and are then consumed one by one.
void emit_ramp(Builder& b) {
  constexpr std::array<int, 8> kPeaks = {8, 16, 24, 24, 32, 40, 64, 96};
  int peak = any_of(b.random, kPeaks);
  peak += b.random.between(0, 5) - 2;
  peak = std::min(peak, b.room * 2 / 3);
  if (peak < 3) return alu(b, kWord);
  std::vector<VRegId> values;
  for (int units = 0; units < peak;) {
    Draft d = b.named("ld.global", ir::kMemRead);
    const VRegId v = b.new_vreg(b.random.chance(75) || b.x.plain ? kWord : kPair);
    units += b.f.vreg(v).units();
    b.imm(d, units * 4);
    b.def(d, v);
    d.fresh.push_back(v);
    b.finish(std::move(d));
    values.push_back(v);
  }
  const auto order = b.random.below(3);
  if (order == 1) std::reverse(values.begin(), values.end());
  if (order == 2) shuffle(b.random, values);
  const VRegId sum = b.pick_root(kWord);
  for (const VRegId v : values) {
    Draft d = b.named("add.f32");
    b.use(d, sum);
    b.use(d, v);
    b.def(d, sum);
    b.finish(std::move(d));
  }
}

void emit_may_def_first(Builder& b) {
  const Key key = b.random.chance(85) ? b.value_key() : kPred;
  const VRegId v = b.new_vreg(key);
  Draft may = b.named("mov.pred");
  b.guard(may);
  b.use(may, key);
  b.def(may, v);
  if (b.x.undefined && !b.is_root(v)) return;
  if (b.x.undefined && b.random.chance(70)) {
    may.fresh.push_back(v);
    return b.finish(std::move(may));
  }
  b.finish(std::move(may));
  for (int between = below(b.random, 3); between > 0; --between) emit_alu(b);
  emit_def_of(b, v);
  b.make_available(v);
}

// --- runs of guarded instructions -----------------------------------------------------------------------------------

namespace {

Key key_of(Builder& b, VRegId v) { return {b.f.vreg(v).file(), b.f.vreg(v).width}; }

// A comparison whose predicate only its region reads. Where reads may be undefined, the comparison is sometimes under a guard itself.
GuardedRegion new_region(Builder& b) {
  const VRegId p = b.new_vreg(kPred);
  Draft d = b.named("setp.ne.s32");
  if (b.x.undefined && b.random.chance(40)) b.guard(d);
  b.use(d, kWord);
  b.maybe_imm(d);
  b.def(d, p);
  b.finish(std::move(d));
  return {p, {}};
}

// One instruction under the guard: it reads what was defined under the same guard, or what is available.
void guarded_step(Builder& b, GuardedRegion& region, bool holds) {
  std::vector<VRegId>& known = region.values[holds ? 1 : 0];
  const auto is_known = [&] { return !known.empty() && b.random.chance(70); };
  const auto any_known = [&] {
    return known[known.size() - 1 - b.random.below(static_cast<std::uint32_t>(std::min<std::size_t>(known.size(), 6)))];
  };
  const auto r = b.random.below(100);
  Draft d = r < 30   ? b.named("ld.global", ir::kMemRead)
            : r < 60 ? b.named(any_of(b.random, kBinary))
            : r < 85 ? b.named("st.global", ir::kMemWrite)
                     : b.op(Op::Copy);
  if (!b.guard(d, region.predicate, !holds)) return;
  const VRegId source = is_known() ? any_known() : b.pick(b.value_key());
  if (r < 30) address(b, d);
  else if (!b.use(d, source)) return;
  if (r >= 30 && r < 85 && is_known()) b.use(d, any_known());
  if (r >= 60 && r < 85) return b.finish(std::move(d));
  const Key key = r < 30 ? b.value_key() : key_of(b, source);
  if (b.random.chance(15)) {  // an available value changes under the guard
    if (b.def(d, key).is_valid()) b.finish(std::move(d));
    return;
  }
  const bool again = is_known();
  VRegId to = again ? any_known() : VRegId();
  if (!again || (r >= 85 && key_of(b, to).index() != key.index())) to = b.new_vreg(key);
  if (!b.def(d, to)) return;
  b.finish(std::move(d));
  known.push_back(to);
}

}  // namespace

// A run as if-conversion leaves it. A region of a dominating block may go on; values that this run adds to it end with this scope.
void emit_guarded_run(Builder& b) {
  constexpr std::array<int, 3> kRenewals = {0, 4, 35};  // percent of instructions at which another region begins
  const int renewal = any_of(b.random, kRenewals);
  const std::size_t until = b.body->size() + static_cast<std::size_t>(std::max(2, std::min(b.room, b.random.between(40, 200))));
  GuardedRegion region = !b.regions.empty() && b.random.chance(60) ? any_of(b.random, b.regions) : new_region(b);
  while (b.body->size() < until) {
    if (b.random.chance(renewal)) {
      b.regions.push_back(std::move(region));
      region = new_region(b);
    }
    const std::size_t before = b.body->size();
    guarded_step(b, region, b.random.chance(75));
    if (b.body->size() == before) emit_alu(b);
  }
  b.regions.push_back(std::move(region));
}

}  // namespace regduel::generate
