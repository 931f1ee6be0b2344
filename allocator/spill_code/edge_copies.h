// Edge copies under a plan: the parallel copies that replace phis, some of whose sources and destinations are in memory.
//
// Let a pair be (destination <- source), each in a register (r), in a slot or in a bit of a pack (m). A pair is a hazard if its
// source's slot is written by another pair of the group, or its destination's slot read by another. In this order:
//
//   0  copy each pack of which the group reads and writes one bit; such bits are read from the copy
//   1  m <- m of a hazard: source to the destination's shadow slot, or at once to its bit
//   2  r <- m of a hazard: source to a temporary, which then counts as r
//   3  m <- r, and the other m <- m: spill stores
//   4  r <- r: one parallel copy
//   5  the other r <- m: refills
//   6  from shadow slots to destinations
//
// A pack bit needs neither step 1 nor step 2: step 0 has made its readers use a copy of the pack. Stores come before the parallel
// copy overwrites their sources, refills after it has read the registers that they overwrite.
// Tested by insert_spill_code_test.cpp and spill_kinds_test.cpp.
#pragma once

#include "allocator/spill_code/spill_code_writer.h"

namespace regduel::allocator {

// Writes the inserted copy `inst`, the instruction at hand of the writer. Cost: O(pairs^2).
void write_edge_copies(SpillCodeWriter& writer, const ir::Inst& inst);

}  // namespace regduel::allocator
