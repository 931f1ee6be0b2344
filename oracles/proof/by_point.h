// Whether an allocation belongs to the class about which `exact-split` proves its bound: each value in registers or in memory, here and
// there (docs/bounds.md, "By point").
//
// An allocation belongs to it if
//
//   - what is inserted are copies between registers of one file, spills, refills, and remats that read no register, all of them without
//     a guard;
//   - each copy, spill and refill moves a whole value: its registers are those that one def wrote, on all paths;
//   - each operand reads the registers that one def wrote, on all paths, so that no value is a part of another one in its register;
//   - bytes of the frame that two accesses share are all the bytes of both, and those of registers of one file;
//   - no copy or phi of a part is deleted, and the program has no architectural values.
//
// An allocation that this judge leaves out may belong to the class all the same. Tested by by_point_test.cpp.
#pragma once

#include <string>

#include "ir/program.h"
#include "oracles/before.h"

namespace regduel::oracles {

// Why the allocation is none of the class; empty = it is one.
//   Requires  both well-formed. Judges of correctness have passed `after`; else the answer means nothing.
//   Cost      passes over the program, and blocks x units x the depth of loops.
[[nodiscard]] std::string why_not_by_point(const Before& before, const ir::Function& after);

}  // namespace regduel::oracles
