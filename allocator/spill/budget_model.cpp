// See budget_model.h.

#include "allocator/spill/budget_model.h"

#include <algorithm>

namespace regduel::allocator {
namespace {

constexpr int kFewest = 16;  // registers that level 10 leaves
constexpr int kGainDivisor = 4;
constexpr int kLargest = 255;  // the limit of the general file without an override

}  // namespace

int level_target(int limit, int level) { return limit - (limit - std::min(limit, kFewest)) * level / 10; }

SlotStrategy slot_strategy(const ir::Function& program, const Knobs& knobs) {
  SlotStrategy s;
  s.max_pool_bytes = knobs[Knob::PoolLimit];
  const bool is_wide = std::any_of(program.vregs.begin(), program.vregs.end(),
                                   [](const ir::VReg& v) { return v.width > 32 && !v.is_architectural(); });
  if (is_wide) {
    s.bucket_bytes = 16;
    s.align_bytes = 16;
  }
  return s;
}

BudgetModel::BudgetModel(const ir::Target& target, const Knobs& knobs)
    : x_min_(target.occupancy_x_min), x_max_(target.occupancy_x_max), y_min_(knobs[Knob::SpillBitMediumRegScale]),
      y_max_(knobs[Knob::SpillBitHighRegScale]) {
  const std::int64_t low = knobs[Knob::SpillBitLowRegScale], first_tier = knobs[Knob::SpillBitLowRegCountHeur];
  if (knobs.is_set(Knob::SpillBitLowRegCountHeur)) x_min_ = std::min(x_min_, first_tier - 1);
  const int adjusted_limit = level_target(kLargest, static_cast<int>(knobs[Knob::RegisterUsageLevel]));
  table_ = {low, first_tier, low, knobs[Knob::SpillBitHighRegCountHeur], low, adjusted_limit, y_max_};
  always_triggers_ = low <= kKnobOne && y_max_ <= kKnobOne;
}

std::int64_t BudgetModel::scale(std::int64_t registers) const {
  for (std::size_t tier = 0; tier < 3; ++tier)
    if (registers <= table_[2 * tier + 1]) return table_[2 * tier];
  return table_[6];
}

// The slope is not rounded by itself.
std::int64_t BudgetModel::line(std::int64_t count) const {
  return x_max_ == x_min_ ? y_min_ : (count - x_min_) * (y_max_ - y_min_) / (x_max_ - x_min_) + y_min_;
}

std::int64_t BudgetModel::fraction(std::int64_t count, int budget) const {
  return std::max(std::min(line(count), y_max_), scale(budget));
}

std::int64_t BudgetModel::threshold(std::int64_t count, ClassBounds bounds) const {
  return fraction(count, bounds.budget) * (bounds.budget - bounds.floor + 1);
}

std::int64_t BudgetModel::occupancy_fraction(std::int64_t registers) const {
  if (registers > table_[3]) return y_max_;
  return registers <= table_[1] ? table_[0] : std::clamp(line(registers), std::min(table_[0], y_max_), y_max_);
}

std::int64_t BudgetModel::worth_of_step(std::int64_t registers, const OccupancyStep& step, std::int64_t weight) const {
  const std::int64_t part = kKnobOne - std::min(occupancy_fraction(registers), kKnobOne);
  // In thousandths, so that nothing overflows.
  const std::int64_t thousandths = part / 1000 * (step.warps - step.warps_now) / (kGainDivisor * step.warps);
  return weight / 1000 * thousandths + weight % 1000 * thousandths / 1000;
}

bool BudgetModel::triggers(std::int64_t spilled, std::int64_t unspilled, std::int64_t count, ClassBounds bounds,
                           bool is_paired) const {
  const std::int64_t registers = is_paired ? (count + 1) / 2 : count;
  return (spilled + unspilled + registers) * kKnobOne > threshold(registers, bounds);
}

}  // namespace regduel::allocator
