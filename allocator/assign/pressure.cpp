// See pressure.h.

#include "allocator/assign/pressure.h"

#include <algorithm>

#include "allocator/assign/constraints.h"
#include "ir/target.h"

namespace regduel::allocator {
namespace {

const ir::CustomConstraint* custom(int index, const ir::Target& machine) {
  const auto k = static_cast<std::size_t>(index);
  return index >= 0 && k < machine.custom_constraints.size() ? &machine.custom_constraints[k] : nullptr;
}

}  // namespace

bool weighs_on(const Constraint& c, int unit, int target, const Geometry& geometry, const ir::Target& machine) {
  switch (c.type) {
    case ConstraintType::PointInterference: return unit > target - geometry.units && unit < target + c.span;
    case ConstraintType::ExcludeOne: return unit == target;
    case ConstraintType::ExcludeAllBut:
    case ConstraintType::Range: return unit != target;
    case ConstraintType::BelowPoint: return unit < target;
    case ConstraintType::PairedLow: return unit == target || (geometry.pair_mode == PairMode::Tuple && unit == target + 1);
    case ConstraintType::PairedHigh: return unit == target + 1;
    case ConstraintType::AlignedPair: return unit == target || unit == target + 1;
    case ConstraintType::PhiRelated: return ((unit ^ target) & 1) != 0;
    case ConstraintType::EvenParity:
    case ConstraintType::OddParity:
    case ConstraintType::ParityGroup:
    case ConstraintType::ParityExtended: return (unit - target) % machine.register_banks == 0;
    case ConstraintType::Custom4:
    case ConstraintType::Custom9:
    case ConstraintType::Custom10: {
      const ir::CustomConstraint* rule = custom(target, machine);
      return rule != nullptr && unit >= rule->registers.begin() && unit < rule->registers.end() &&
             (unit - rule->registers.begin()) % rule->step == 0;
    }
  }
  return false;
}

void PressureArrays::reset() {
  std::fill_n(primary_.begin(), width_, 0);
  width_ = 0;
  for (const int unit : wanted_) relief_[static_cast<std::size_t>(unit)] = 0;
  wanted_.clear();
  away_ = 0;
}

void PressureArrays::add(const Constraint& c, int target, int width, const Geometry& geometry, const ir::Target& machine) {
  const std::int32_t w = c.weight;
  if (c.type == ConstraintType::Range) {
    away_ += w;
    if (target < 0 || target >= width) return;
    std::int32_t& relief = relief_[static_cast<std::size_t>(target)];
    if (relief == 0) wanted_.push_back(target);
    relief += w;
    return;
  }
  width_ = std::max(width_, width);
  std::int32_t* const a = primary_.data();
  // [lo, hi), as far as it is in [0, width).
  const auto stretch = [&](int lo, int hi) {
    for (int unit = std::max(lo, 0), end = std::min(hi, width); unit < end; ++unit) a[unit] += w;
  };
  const auto every = [&](int step, int first) {
    for (int unit = first; unit < width; unit += step) a[unit] += w;
  };
  switch (c.type) {
    case ConstraintType::PointInterference: stretch(target - geometry.units + 1, target + c.span); break;
    case ConstraintType::ExcludeOne: stretch(target, target + 1); break;
    case ConstraintType::ExcludeAllBut:
      stretch(0, target);
      stretch(std::max(target, -1) + 1, width);
      break;
    case ConstraintType::BelowPoint: stretch(0, target); break;
    case ConstraintType::PairedLow: stretch(target, target + (geometry.pair_mode == PairMode::Tuple ? 2 : 1)); break;
    case ConstraintType::PairedHigh: stretch(target + 1, target + 2); break;
    case ConstraintType::AlignedPair: stretch(target, target + 2); break;
    case ConstraintType::PhiRelated: every(2, (target & 1) ^ 1); break;
    case ConstraintType::EvenParity:
    case ConstraintType::OddParity:
    case ConstraintType::ParityGroup:
    case ConstraintType::ParityExtended: {
      const int bank = target % machine.register_banks;
      every(machine.register_banks, bank < 0 ? bank + machine.register_banks : bank);
      break;
    }
    case ConstraintType::Custom4:
    case ConstraintType::Custom9:
    case ConstraintType::Custom10:
      if (const ir::CustomConstraint* rule = custom(target, machine))
        for (int unit = rule->registers.begin(); unit < std::min(rule->registers.end(), width); unit += rule->step) a[unit] += w;
      break;
    case ConstraintType::Range: break;
  }
}

}  // namespace regduel::allocator
