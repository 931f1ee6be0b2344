// How many warps an SM holds, by the registers of a thread (source 002, "Occupancy Impact"; target: granularity and limits).
//
//   registers of a warp = 32 x registers of a thread, up to the next multiple of the granularity
//   blocks of an SM     = least of: registers of the SM / (registers of a warp x warps of a block), warps of the SM / warps of a
//                         block, blocks that the SM takes
// Four warps execute an instruction of a warpgroup (wgmma, tcgen05, setmaxnreg) together, each with the same registers (sources 002
// and 003, "Constraint Systems", 3), so blocks of such programs take registers for whole warpgroups. Tested by
// occupancy_test.cpp.
#pragma once

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::reference {

struct Occupancy {
  int blocks = 0;   // of an SM
  int percent = 0;  // of its warps, rounded down
};

//   registers, threads   at least 1; threads of a block
[[nodiscard]] Occupancy occupancy(const ir::Target& target, int registers, int threads);

// The most registers of a thread, of those that it may have, with which an SM holds that percentage of its warps. All that a thread
// may have if no number of registers reaches it, because then something else is the limit.
[[nodiscard]] int most_registers(const ir::Target& target, int percent, int threads);

// Threads of a block, those of its last warpgroup made up to 128 where an instruction of the program needs a warpgroup. Cost
// O(instructions).
[[nodiscard]] int threads_of_block(const ir::Function& program);

}  // namespace regduel::reference
