// What it would cost to keep a vreg in memory.
//
// Source: source 001 "Spill Cost Model": 15 a reference, 3 where the class is under high pressure, times the block's frequency.
// In integers, and times the bytes moved. A vreg that can be computed again instead of refilled is cheap. Tested by cost_test.cpp,
// driver_test.cpp and fatpoint_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "allocator/spill_code/location.h"

namespace regduel::allocator {

inline constexpr std::int64_t kUnspillable = std::int64_t{1} << 62;  // the cost of a vreg that cannot be spilled
inline constexpr std::int64_t kSpillWeight = 15;
inline constexpr std::int64_t kSpillWeightHighPressure = 3;
inline constexpr std::int64_t kMaxSpillCost = (std::int64_t{1} << 48) - 1;

// By vreg of `in` (the program that out_of_ssa made): bytes moved, as often as they would be; of what would be computed again, how
// often that is.
//   if_spilled   by vreg: where it would go
[[nodiscard]] std::vector<std::int64_t> spill_moves(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live,
                                                    const std::vector<std::int64_t>& block_frequency,
                                                    std::span<const Location> if_spilled);
// What these cost under some pressure: kUnspillable for architectural registers; else below 2^48.
[[nodiscard]] std::vector<std::int64_t> spill_costs(const ir::Function& in, const std::vector<std::int64_t>& moves,
                                                    std::span<const Location> if_spilled, const ir::PerFile<bool>& high_pressure);
// Both.
[[nodiscard]] std::vector<std::int64_t> spill_costs(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live,
                                                    const std::vector<std::int64_t>& block_frequency,
                                                    std::span<const Location> if_spilled, const ir::PerFile<bool>& high_pressure);

}  // namespace regduel::allocator
