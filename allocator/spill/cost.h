// Spill costs: the cost of keeping a vreg in memory.
//
// Source: source 001 "Spill Cost Model": 15 a reference, 3 if the class is under high pressure, times the block's frequency. Here in
// integers, and times the bytes moved. A vreg that would be rematerialised is cheap. Tested by cost_test.cpp,
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

// An architectural vreg stands for its register, which has no slot.
[[nodiscard]] inline bool is_spillable(const ir::VReg& v) { return !v.is_architectural() || !v.fixed.is_valid(); }

// By vreg of `in` (the program that out_of_ssa made): bytes that refills and stores would move, times the frequency of their blocks.
// For a vreg that would be rematerialised, the instructions repeated instead of bytes.
//   if_spilled   by vreg: its location if it is spilled
//   first_of     where live ranges are split, by vreg: the vreg that it is a piece of (split_program.h). A move between a piece and its
//                memory is there already, and a piece in memory needs none, so that its bytes may be below 0
[[nodiscard]] std::vector<std::int64_t> spill_moves(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live,
                                                    const std::vector<std::int64_t>& block_frequency,
                                                    std::span<const Location> if_spilled,
                                                    std::span<const ir::VRegId> first_of = {});
// Costs from spill_moves(), by the pressure of their files: kUnspillable for architectural registers; else below 2^48.
[[nodiscard]] std::vector<std::int64_t> spill_costs(const ir::Function& in, const std::vector<std::int64_t>& moves,
                                                    std::span<const Location> if_spilled, const ir::PerFile<bool>& high_pressure);
}  // namespace regduel::allocator
