// Lowering turns a program and a plan into Code (code.h). Each round lowers the program itself, so that no round has to patch the
// code of an earlier one.
//
//   phis       isolated: a value of its own for each phi, copied into on each incoming edge and out of at the head of the block;
//              no order of these copies can be wrong (Sreedhar et al. 1999, method I). Coalescing removes what is not needed.
//   ties       the use's value is copied into a local temp that the instruction reads and writes, and from there to the def's.
//   fixed      a local precoloured temp, copied into before and out of after.
//   pinned     all items of the instruction become precoloured local temps, with the homes that the exact packing found.
//   spilled    a refill into a local temp before each use, a store after each def; both around a may-def or a def of a part.
//              A copy between two spilled values goes through a local temp, or vanishes where they share a slot.
//   remat      a value that lives nowhere is computed again before each use; the def itself is deleted.
//   dead       copies and phis whose value only copies and phis read are dropped.
// Tested by lower_test.cpp.
#pragma once

#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::reference {

// Cost O(size of program).
[[nodiscard]] Code lower(const Problem& problem, const Plan& plan, ir::Fuel* fuel = nullptr);

}  // namespace regduel::reference
