// Slots of values that are never in memory at one time become one, so that the frame is small.
//
// A slot is live from a store to the last refill that may read it:
//   in(b) = read(b) | (out(b) - stored(b)),   out(b) = union over successors s of in(s),   restricted to where some store reaches
// A store of a part leaves the rest as it is. Two slots conflict where one is stored while the other is live. The slots are coloured
// first fit, the largest first, so that each class is as large as its first slot. Tested by shared_slots_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/program/code.h"
#include "reference/program/plan.h"

namespace regduel::reference {

// By slot of the plan: the slot that it becomes, at least as large, and its own number where it is the first of its class.
//   is_dead   by index of Code::insts: what is left out
// Cost O(blocks x slots / 64 x passes + stores x slots / 64 + pairs of slots that conflict).
[[nodiscard]] std::vector<std::uint32_t> shared_slots(const Code& code, const Plan& plan, const std::vector<std::uint8_t>& is_dead);

}  // namespace regduel::reference
