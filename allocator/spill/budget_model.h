// The budget model: whether a point over budget is worth a spill, the level of register usage, and the size of the slot pool.
//
//   fraction  = clamp((count - x_min) * (B - C) / (x_max - x_min) + C, table(budget), B)
//   threshold = fraction * (budget - floor + 1)
//   spill     where vregs spilled so far + units that still need it + count > threshold
//
// A, B, C: knobs 664, 661, 665. The table is a step function of the budget: A up to knob 663, A up to knob 660, A up to the
// adjusted limit of the file, B beyond; the first tier that covers the budget counts, so a knob above the adjusted limit keeps A
// where B would begin. x_min and x_max are the target's (below); once knob 663 is set, x_min is at most its value less one. The
// adjusted limit is 255 less the registers that RegisterUsageLevel takes away from 255 (the source has a hook there).
//
// At a point over its budget, count > budget; so with a fraction of at most 1 the sum is above the threshold whatever the rest is,
// and with the defaults every such point is worth a spill. Coefficients above 1 leave points that are barely over budget to
// eviction; pairs, which count half, do so from less on.
//
// Below the limit the model says what more warps are worth. x counts registers of a thread: x_min is the target's figure of the
// most with which an SM holds all of its warps, x_max the most that there are. The fraction rises between them, and from knob 660
// on it is B: a kernel with few registers is assumed to need occupancy, a kernel with many to gain little by it. A step from `now`
// to `more` warps pays if
//
//   cost <= (1 - fraction) * (more - now) / more * weight of the program / 4
//
// Cost and weight count instructions times how often they are executed: a remat counts 1, an access to memory 8 (kAccess). The last
// factor is ours: warps hide latency, but only part of the lost time is latency.
//
// Source: source 000 "Occupancy-Aware Budget Model", "Budget Computation", "Post-Init". DECISIONS: the fraction is clamped (it would
// be negative for small counts), the table supplies the lower bound. In the source only rounds of spilling ask the model; here the
// occupancy phase asks too, which starts from a result without spills. Fixed point, in millionths. Tested by budget_model_test.cpp;
// that each knob changes allocations, by guidance_test.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/knobs.h"
#include "allocator/spill/occupancy.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::allocator {

// The registers to aim at under a limit: the limit at level 0, min(limit, 16) at level 10, in equal steps between.
//   level   0 to 10.   Ensures  1 <= result <= limit for limit >= 1; monotone in both.
[[nodiscard]] int level_target(int limit, int level);

// How the pool of spill slots grows. In the source this strategy reads knob 623 too; here only block frequencies do.
struct SlotStrategy {
  int bucket_bytes = 8;                    // the pool grows in these
  std::uint32_t align_bytes = 4;           // of the local frame
  std::int64_t max_pool_bytes = 0x100000;  // knob FatPointPoolLimit

  // Size of a pool that holds `bytes`.
  [[nodiscard]] std::int64_t pool_bytes(std::int64_t bytes) const {
    return (bytes + bucket_bytes - 1) / bucket_bytes * bucket_bytes;
  }
};
// 8 and 4, or 16 and 16 where a vreg of the program is wider than 32 bits. Cost: O(vregs).
[[nodiscard]] SlotStrategy slot_strategy(const ir::Function& program, const Knobs& knobs);

// Bounds of a register class.
struct ClassBounds {
  int budget = 0;
  int floor = 0;
};

class BudgetModel {
 public:
  BudgetModel(const ir::Target& target, const Knobs& knobs);

  // Scale, x, scale, x, scale, x, scale: scales in millionths, x in registers.
  [[nodiscard]] const std::array<std::int64_t, 7>& table() const { return table_; }

  // The table at so many registers.
  [[nodiscard]] std::int64_t scale(std::int64_t registers) const;
  // In millionths; before the clamp, and after it. Where the bounds cross, the lower one holds. Requires |count| < 2^31.
  [[nodiscard]] std::int64_t line(std::int64_t count) const;
  [[nodiscard]] std::int64_t fraction(std::int64_t count, int budget) const;
  // In millionths of a register.
  [[nodiscard]] std::int64_t threshold(std::int64_t count, ClassBounds bounds) const;

  //   spilled      vregs of the class that are spilled already
  //   unspilled    units over the budget
  //   count        units of the class that are live
  //   is_paired    all vregs of the class are pairs, of which every second register counts
  [[nodiscard]] bool triggers(std::int64_t spilled, std::int64_t unspilled, std::int64_t count, ClassBounds bounds,
                              bool is_paired) const;
  // True where a point over budget always triggers, so that triggers() need not be asked.
  [[nodiscard]] bool always_triggers(bool is_paired) const { return always_triggers_ && !is_paired; }

  // In millionths: the part of the gain of more warps that is not counted at so many registers.
  [[nodiscard]] std::int64_t occupancy_fraction(std::int64_t registers) const;
  // The most that a step may cost, by the formula above; 0 where the fraction is 1 or more.
  //   weight   of the program, below 2^60
  [[nodiscard]] std::int64_t worth_of_step(std::int64_t registers, const OccupancyStep& step, std::int64_t weight) const;
  static constexpr std::int64_t kAccess = 8;

 private:
  std::array<std::int64_t, 7> table_;
  std::int64_t x_min_, x_max_, y_min_, y_max_;
  bool always_triggers_;
};

}  // namespace regduel::allocator
