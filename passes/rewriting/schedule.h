// Scheduling for pressure. Two steps, each of which leaves the effects of every block in their order (mobility.h), and no read of memory
// passes what changes memory.
//
//   sink    an instruction whose def is read in other blocks only goes to the nearest block that dominates these, if that is in no loop
//           that it was not in, and no more units live longer than the def frees. Only what reads no memory that may change
//   order   the instructions of a block are listed from its end on: of those whose readers are all placed, the one after which fewest
//           units live; among equals the one that was placed as a need last, as Sethi and Ullman ("The Generation of Optimal Code for
//           Arithmetic Expressions", 1970) evaluate a tree, or the last in the source. Of several such orders and that of the source, the
//           one of least pressure stays: the most units that live, then their sum of squares over the block. The source wins a draw
//
// A def that can be repeated without a register counts nothing, because an allocator repeats it.
//
//   schedule-sink     whether instructions go to other blocks
//   schedule-order    pressure, or source: the blocks as they are
//   schedule-latency  0 to 400: how many instructions a read of memory is to stand before its reader, where no more lives by it than the
//                     block has at most in any case. 0 = pressure alone
//
// Tested by schedule_test.cpp, and against the judge by properties/rewritings_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

[[nodiscard]] const Pass& schedule();

}  // namespace regduel::passes
