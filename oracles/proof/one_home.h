// Whether an allocation belongs to the class about which `exact` proves its bounds: each value in one home (docs/bounds.md).
//
// An allocation belongs to it if
//
//   - each root vreg stands in one tuple at all its operands;
//   - no instruction writes to the home of another root that is live after it, and none clobbers it. A copy between whole roots in
//     one home writes nothing;
//   - nothing is inserted but copies into the home of the def of a phi, before the terminator of a predecessor or in an edge block;
//   - no copy has become a spill or a refill, and a copy that is deleted is dead, or has both sides in one home.
//
// The liveness is one of its own, on whole roots: live is what some def reaches and what may be used, where copies and repeatable defs
// that the allocation deleted and that are dead use nothing. It is never less than the liveness of the proof, so that an allocation
// which belongs to the class here does so there. An allocation that this judge leaves out may belong to the class all the same.
// Tested by one_home_test.cpp.
#pragma once

#include <string>

#include "ir/program.h"
#include "oracles/before.h"

namespace regduel::oracles {

// Why the allocation is none of the class; empty = it is one.
//   Requires  both well-formed. Judges of correctness have passed `after`; else the answer means nothing.
//   Cost      passes over the program x vregs / 64, a few times.
[[nodiscard]] std::string why_not_in_one_home(const Before& before, const ir::Function& after);

}  // namespace regduel::oracles
