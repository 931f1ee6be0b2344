// The driver: one program from its vregs to registers.
//
//   1  facts       out of SSA, liveness, block frequencies; where spilled values go. Made once for all limits (phases/program_facts.h)
//   2  NOSPILL     spill code for a plan with all values in registers (for fixed operands and ties), then attempts file by file
//   3  impossible  packs each instruction by itself, so the decision is exact, and no later step can fail
//   4  SPILL       split live ranges or whole ones (phases/choose_spilling.h)
//   5  emit        homes into operands (frame/emit.h)
//   6  fewer       steps 2 to 5 again with fewer registers, where that may pay: for occupancy after step 2, for less spill code
//                  after step 4
//
// Once its fuel is used up (ir::Fuel), a run takes no optional decision: a vreg that may not have a register is spilled from the
// start, copies are not coalesced, no refilled value is used again ..., and the fallback comes as soon as the rounds may not go on.
// The result is right all the same.
//
// Source: source 000 "Retry Loop", "Best Result Recorder", "Per-Class Iteration"; source 001 "Spill Retry Loop"; DECISIONS on both.
// Tested by driver_test.cpp, driver_trace_test.cpp and fatpoint_test.cpp; the parts in phases/.
#pragma once

#include <expected>

#include "allocator/knobs.h"
#include "allocator/phases/instruments.h"
#include "ir/allocator.h"

namespace regduel::allocator {

struct RunOptions {
  const ir::Target& target;
  const ir::Limits& limits;
  const Knobs& knobs;
  Instruments instruments = {};
};

[[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> run_driver(const ir::Function& program, const RunOptions& options);

}  // namespace regduel::allocator
