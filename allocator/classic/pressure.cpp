// See pressure.h.

#include "allocator/classic/pressure.h"

namespace regduel::allocator {
namespace {

std::int32_t weight_of(const Constraint& c) {
  switch (c.type) {
    case ConstraintType::Range:
    case ConstraintType::Custom4:
    case ConstraintType::Custom9:
    case ConstraintType::Custom10: return c.weight;
    default: return c.is_soft ? std::clamp<std::int32_t>(c.weight, 1, kHardWeight - 1) : kHardWeight;
  }
}

}  // namespace

void add_point(Pressure& to, std::int32_t weight, int target, int units, int width, const Geometry& geometry) {
  for (int unit = std::max(target - geometry.units + 1, 0), end = std::min(target + units, width); unit < end; ++unit)
    to.primary[static_cast<std::size_t>(unit)] += weight;
}

void add(Pressure& to, const Constraint& c, int target, int width, const Geometry& geometry, const ir::Target& machine) {
  const std::int32_t w = weight_of(c);
  std::int32_t* const primary = to.primary.data();
  std::int32_t* const secondary = to.secondary.data();
  // [lo, hi), as far as it is in [0, width), by steps.
  const auto stretch = [&](std::int32_t* a, int lo, int hi, int step = 1) {
    for (int unit = std::max(lo, 0), end = std::min(hi, width); unit < end; unit += step) a[unit] += w;
  };
  const auto all_but_target = [&](std::int32_t* a) {
    stretch(a, 0, target);
    stretch(a, std::max(target, -1) + 1, width);
  };
  switch (c.type) {
    case ConstraintType::PointInterference: return add_point(to, w, target, c.span, width, geometry);
    case ConstraintType::ExcludeOne: return stretch(primary, target, target + 1);
    case ConstraintType::ExcludeAllBut: return all_but_target(primary);
    case ConstraintType::BelowPoint: return stretch(primary, 0, target);
    case ConstraintType::PairedLow: return stretch(primary, target, target + (geometry.pair_mode == PairMode::Tuple ? 2 : 1));
    case ConstraintType::PairedHigh: return stretch(primary, target + 1, target + 2);
    case ConstraintType::AlignedPair: return stretch(primary, target, target + 2);
    case ConstraintType::PhiRelated: return stretch(primary, (target & 1) ^ 1, width, 2);
    case ConstraintType::EvenParity:
    case ConstraintType::OddParity:
    case ConstraintType::ParityGroup:
    case ConstraintType::ParityExtended: {
      const int bank = target % machine.register_banks;
      return stretch(primary, bank < 0 ? bank + machine.register_banks : bank, width, machine.register_banks);
    }
    case ConstraintType::Custom4:
    case ConstraintType::Custom9:
    case ConstraintType::Custom10: {
      const auto k = static_cast<std::size_t>(target);
      if (target < 0 || k >= machine.custom_constraints.size()) return;
      const ir::CustomConstraint& rule = machine.custom_constraints[k];
      return stretch(primary, rule.registers.begin(), rule.registers.end(), rule.step);
    }
    case ConstraintType::Range: return all_but_target(secondary);
  }
}

}  // namespace regduel::allocator
