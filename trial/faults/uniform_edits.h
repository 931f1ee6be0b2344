// Values that differ between the threads of a warp, sent through a register that all threads share. Each edit leaves a thread by itself
// with the values that it had. Tested by uniform_edits_test.cpp.
#pragma once

#include "trial/faults/edits.h"

namespace regduel::trial {

// How the value gets there.
enum class Way {
  Copy,    // behind its def, by a copy
  Slot,    // by a slot
  Beside,  // beside a uniform register in one copy
  Half,    // the upper unit of a pair
  Bit,     // a predicate as a bit of a pack
  Guard,   // by a copy, and back under a guard of each thread
  Branch,  // back on one of several ways from its block
  Join,    // on every way into a block that reads it
};

// The operand at the place is a def of an operation, in a program in which nothing is uniform.
// The value comes back to its register, which an operation reads before anything writes it.
[[nodiscard]] Edit through_uniform(Way way);

}  // namespace regduel::trial
