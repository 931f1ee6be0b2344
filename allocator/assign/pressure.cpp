// See pressure.h.

#include "allocator/assign/pressure.h"

#include <algorithm>

#include "allocator/assign/lanes.h"

namespace regduel::allocator {
namespace {

const ir::CustomConstraint* custom(int index, const ir::Target& machine) {
  const auto k = static_cast<std::size_t>(index);
  return index >= 0 && k < machine.custom_constraints.size() ? &machine.custom_constraints[k] : nullptr;
}

constexpr int kBankGroup = 4;  // units that share a bank for tuples

}  // namespace

bool weighs_on(const Constraint& c, int slot, int target, const Geometry& geometry, const ir::Target& machine) {
  const int banks = machine.register_banks;
  switch (c.type) {
    case ConstraintType::PointInterference: return slot > target - geometry.units && slot < target + c.span;
    case ConstraintType::ExcludeOne: return slot == target;
    case ConstraintType::ExcludeAllBut:
    case ConstraintType::Range: return slot != target;
    case ConstraintType::BelowPoint: return slot < target;
    case ConstraintType::PairedLow: return slot == target || (geometry.pair_mode == PairMode::Tuple && slot == target + 1);
    case ConstraintType::PairedHigh: return slot == target + 1;
    case ConstraintType::AlignedPair: return slot == target || slot == target + 1;
    case ConstraintType::PhiRelated: return ((slot ^ target) & 1) != 0;
    case ConstraintType::EvenParity: return (slot % banks & 1) != 0;
    case ConstraintType::OddParity: return (slot % banks & 1) == 0;
    case ConstraintType::ParityGroup: return target >= 0 && slot % banks == target % banks;
    case ConstraintType::ParityExtended: return target >= 0 && slot / kBankGroup % banks == target / kBankGroup % banks;
    case ConstraintType::Custom4:
    case ConstraintType::Custom9:
    case ConstraintType::Custom10: {
      const ir::CustomConstraint* rule = custom(target, machine);
      return rule != nullptr && slot >= rule->registers.begin() && slot < rule->registers.end() &&
             (slot - rule->registers.begin()) % rule->step == 0;
    }
  }
  return false;
}

void PressureArrays::reset() {
  zero_weights(primary_.data(), 0, width_);
  width_ = 0;
  for (const int slot : wanted_) relief_[static_cast<std::size_t>(slot)] = 0;
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
  // Whatever of [lo, hi) there is.
  const auto stretch = [&](int lo, int hi) {
    lo = std::clamp(lo, 0, width);
    add_weight(a, lo, std::clamp(hi, lo, width), w);
  };
  const auto every = [&](int step, int first) {
    if (step == 2) add_weight_every_second(a, std::min(first, width), width, w);
    else
      for (int slot = first; slot < width; slot += step) a[slot] += w;
  };
  // The slots of every bank of one parity, of `size` slots each.
  const auto banks_of_parity = [&](int parity) {
    const int banks = machine.register_banks;
    if (banks % 2 == 0) return every(2, parity);
    for (int bank = parity; bank < banks; bank += 2) every(banks, bank);
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
    case ConstraintType::EvenParity: banks_of_parity(1); break;
    case ConstraintType::OddParity: banks_of_parity(0); break;
    case ConstraintType::ParityGroup:
      if (target >= 0) every(machine.register_banks, target % machine.register_banks);
      break;
    case ConstraintType::ParityExtended: {
      if (target < 0) break;
      const int period = kBankGroup * machine.register_banks;
      for (int slot = target / kBankGroup * kBankGroup % period; slot < width; slot += period) stretch(slot, slot + kBankGroup);
      break;
    }
    case ConstraintType::Custom4:
    case ConstraintType::Custom9:
    case ConstraintType::Custom10:
      if (const ir::CustomConstraint* rule = custom(target, machine))
        for (int slot = rule->registers.begin(); slot < std::min(rule->registers.end(), width); slot += rule->step) a[slot] += w;
      break;
    case ConstraintType::Range: break;
  }
}

}  // namespace regduel::allocator
