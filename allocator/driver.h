// The retry driver: attempts without spilling, then rounds with spilling, then the last fallback.
//
//   1  out of SSA, liveness, an empty plan
//   2  NOSPILL   lower under the plan; each file that has vregs gets up to two attempts (knobs 638, 639). Done if all fit.
//   3  Impossible is decided here, by packing each instruction by itself: so it is exact, and no later step can fail.
//   4  SPILL     each file that does not fit names vregs to spill: where points are over budget by guidance, else by an attempt
//   that
//                evicts the cheapest. Lower and try again.
//   5  fallback  after so many rounds (a knob): everything in memory, every instruction pinned where the packer put its operands.
//
// With fuel that runs out (ir::Fuel), a vreg that may not have a register is spilled from the start, copies are not coalesced,
// nothing that was refilled is used again ..., and 5 comes as soon as 4 may not go on. What is right does not depend on it.
//
// Each round of 4 spills at least one vreg that was not spilled before, or pins an instruction that was not pinned; so it ends.
// Source: seed 000 "Retry Loop", "Best Result Recorder", "Per-Class Iteration"; seed 001 "Spill Retry Loop"; DECISIONS on both.
// Deviates: an attempt is repeated while its result is above MaxLive, not only while it is above the limit, since a duel
// compares registers. Tested by driver_test.cpp and fatpoint_test.cpp.
#pragma once

#include <expected>

#include "allocator/knobs.h"
#include "ir/allocator.h"

namespace regduel::allocator {

class Observer;

//   observer   null = nobody asks why (explain.h)
[[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> run_driver(const ir::Function& program, const ir::Target& target,
                                                                         const ir::Limits& limits, const Knobs& knobs,
                                                                         ir::Trace* trace, ir::Fuel* fuel = nullptr,
                                                                         Observer* observer = nullptr);

}  // namespace regduel::allocator
