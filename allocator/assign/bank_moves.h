// Moves against bank conflicts (knob 641): once every vreg has its home, vregs move or change places if that saves more than it
// costs.
//
// The cost of a home is the weight of its conflicts (banks.h) and of the copies that it keeps (affinities to other homes), on one
// scale. A coalesced class that has one home moves as one; a class with a precoloured member stays. Each other class that has a
// conflict, in turn, tries to
//
//   move     to the position, free over its whole range, where it costs least
//   change   places with the vregs that stand in one position of the same size during its range, if they can stand here, and both
//            together then cost less
//
// No unit comes into use that the attempt did not use before, so registers and saves stay what they are.
//
// Source: source 000 "Per-Instruction Assignment" (bank conflicts are detected and resolved); how, the source does not say. Tested by
// banks_test.cpp.
#pragma once

#include "allocator/assign/placement.h"

namespace regduel::allocator {

// Requires placement.banks(). Returns how many vregs and classes moved.
// Cost: O(classes with conflicts x units x a query of the occupancy).
int move_apart(const FileAllocator& allocator, Placement& placement);

}  // namespace regduel::allocator
