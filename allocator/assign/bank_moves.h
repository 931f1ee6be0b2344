// What is left of bank conflicts once every vreg has its home (knob 641): vregs move, or change places, where that saves more than
// it costs.
//
// What a home costs is the weight of its conflicts (banks.h) and of the copies that it keeps (affinities to homes elsewhere), by
// one scale. A coalesced class that has one home moves as one. A class with a precoloured member stays. For each of the others that
// has a conflict, in turn:
//
//   move     to the position, free over its whole range, where it costs least
//   change   places with what stands in one position of the same size during its range, if that can stand here, and both
//            together then cost less
//
// No unit comes into use that the attempt did not use before, so registers and saves stay what they are.
//
// Source: source 000 "Per-Instruction Assignment" (bank conflicts are detected and resolved); how, the seed does not say. Tested by
// banks_test.cpp.
#pragma once

#include "allocator/assign/placement.h"

namespace regduel::allocator {

// Requires placement.banks(). Returns how many vregs and classes moved.
// Cost: of those with conflicts x units x a query of the occupancy.
int move_apart(const FileAllocator& allocator, Placement& placement);

}  // namespace regduel::allocator
