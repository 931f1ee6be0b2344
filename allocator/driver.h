// The driver: one program from its vregs to registers.
//
//   1  analysis    out of SSA, liveness, block frequencies; where spilled values go; a plan with everything in registers
//   2  NOSPILL     spill code for that plan (what binds single instructions), then attempts file by file. Done if all fit, but for
//                  occupancy: all of this again with fewer registers, where that pays (phases/occupancy_phase.h)
//   3  impossible  decided here, by packing each instruction by itself: so it is exact, and no later step can fail
//   4  SPILL       in up to two ways, of which the cheaper result stays; first the one that moves less at first sight, and the
//                  other where the first came to more than the other may come to:
//                    split    the program with its live ranges split (split/)
//                    whole    rounds of guidance and eviction under a plan that grows; where nothing else fits, the last fallback
//                  then unspilled: what is spilled goes back to registers, and leaves again as far as it must
//   5  emit        homes into operands
//
// With fuel that runs out (ir::Fuel), a vreg that may not have a register is spilled from the start, copies are not coalesced,
// nothing that was refilled is used again ..., and the fallback comes as soon as the rounds may not go on. The result is right all
// the same.
//
// Source: source 000 "Retry Loop", "Best Result Recorder", "Per-Class Iteration"; source 001 "Spill Retry Loop"; DECISIONS on both.
// Tested by driver_test.cpp, driver_trace_test.cpp and fatpoint_test.cpp; the parts in phases/.
#pragma once

#include <expected>

#include "allocator/phases/analysis.h"
#include "ir/allocator.h"

namespace regduel::allocator {

[[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> run_driver(const ir::Function& program, const RunOptions& options);

}  // namespace regduel::allocator
