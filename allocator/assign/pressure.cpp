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

void PressureArrays::reset() {
  std::fill_n(primary_.begin(), width_, 0);
  width_ = 0;
  for (const int unit : wanted_) relief_[static_cast<std::size_t>(unit)] = 0;
  wanted_.clear();
  away_ = 0;
}

void PressureArrays::add(const Constraint& c, int target, int width, const ir::Target& machine) {
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
  const auto every = [&](int step, int first) {
    for (int unit = first; unit < width; unit += step) a[unit] += w;
  };
  switch (c.type) {
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
    default: break;  // types 0 to 3 and 5 to 8 are those of `classic`
  }
}

}  // namespace regduel::allocator
