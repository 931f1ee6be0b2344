// See pressure.h.

#include "allocator/pressure.h"

#include <algorithm>

namespace regduel::allocator {

void PressureArrays::reset(int width) {
  std::fill_n(primary.begin(), width, 0);
  std::fill_n(secondary.begin(), width, 0);
}

void PressureArrays::add(const Constraint& c, int target, int width, const Geometry& geometry, int banks) {
  const std::int32_t w = c.weight;
  const auto on = [&](int slot) {
    if (slot >= 0 && slot < width) primary[static_cast<std::size_t>(slot)] += w;
  };
  const auto where = [&](auto predicate) {
    for (int slot = 0; slot < width; ++slot)
      if (predicate(slot)) primary[static_cast<std::size_t>(slot)] += w;
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
    case ConstraintType::Range:
      for (int slot = 0; slot < width; ++slot)
        if (slot != target) secondary[static_cast<std::size_t>(slot)] += w;
      break;
  }
}

}  // namespace regduel::allocator
