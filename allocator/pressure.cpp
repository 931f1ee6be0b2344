// See pressure.h.

#include "allocator/pressure.h"

#include <algorithm>

namespace regduel::allocator {

void PressureArrays::reset() {
  if (has_primary_) primary_.fill(0);
  has_primary_ = false;
  for (const int slot : wanted_) relief_[static_cast<std::size_t>(slot)] = 0;
  wanted_.clear();
  away_ = 0;
}

void PressureArrays::add(const Constraint& c, int target, int width, const Geometry& geometry, int banks) {
  const std::int32_t w = c.weight;
  if (c.type == ConstraintType::Range) {
    away_ += w;
    if (target < 0 || target >= width) return;
    std::int32_t& relief = relief_[static_cast<std::size_t>(target)];
    if (relief == 0) wanted_.push_back(target);
    relief += w;
    return;
  }
  has_primary_ = true;
  const auto on = [&](int slot) {
    if (slot >= 0 && slot < width) primary_[static_cast<std::size_t>(slot)] += w;
  };
  const auto where = [&](auto predicate) {
    for (int slot = 0; slot < width; ++slot)
      if (predicate(slot)) primary_[static_cast<std::size_t>(slot)] += w;
  };
  switch (c.type) {
    case ConstraintType::PointInterference:
      // Each slot whose footprint would cover the target.
      for (int slot = target - geometry.units + 1; slot <= target; ++slot) on(slot);
      break;
    case ConstraintType::ExcludeOne: on(target); break;
    case ConstraintType::ExcludeAllBut: where([&](int slot) { return slot != target; }); break;
    case ConstraintType::BelowPoint: where([&](int slot) { return slot < target; }); break;
    case ConstraintType::PairedLow:
      on(target);
      if (geometry.pair_mode == PairMode::Tuple) on(target + 1);
      break;
    case ConstraintType::PairedHigh: on(target + 1); break;
    case ConstraintType::AlignedPair:
      on(target);
      on(target + 1);
      break;
    case ConstraintType::PhiRelated: where([&](int slot) { return (slot & 1) != (target & 1); }); break;
    case ConstraintType::EvenParity: where([&](int slot) { return (slot % banks & 1) != 0; }); break;
    case ConstraintType::OddParity: where([&](int slot) { return (slot % banks & 1) == 0; }); break;
    case ConstraintType::ParityGroup: where([&](int slot) { return slot % banks == target % banks; }); break;
    case ConstraintType::ParityExtended: where([&](int slot) { return slot / 4 % banks == target / 4 % banks; }); break;
    case ConstraintType::Range: break;
  }
}

}  // namespace regduel::allocator
