// Patterns: correct rewritings of a correct allocation into forms that no allocator makes by itself yet, so that the judges see
// each of them, valid and damaged. A pattern goes when an allocator makes its form.
//
// No pattern needs a dataflow. A spill slot is a variable that only its spills and refills see, so it may become anything else that
// is written and read at the same places: a shared slot, registers of another file, one bit of a pack. A register that nothing
// mentions between two instructions may be somewhere else meanwhile. A def may be repeated in its block while nothing has written
// its register or its sources. Source: source 001 (predicate spilling, shared-memory slots, rematerialisation); FORMAT.md
// "Allocated programs". Tested by patterns_test.cpp.
#pragma once

#include <span>

#include "trial/faults/pattern.h"

namespace regduel::trial {

[[nodiscard]] std::span<const Pattern> patterns();

}  // namespace regduel::trial
