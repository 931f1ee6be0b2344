// The structure judge: the rules of FORMAT.md, "Allocated programs", that can be checked without following a value. Each rule has a
// category, listed at the head of structure.cpp.
#pragma once

#include "oracles/judge.h"

namespace regduel::oracles {

// Cost: O(instructions + operands) expected, O(slots log slots).
[[nodiscard]] const Judge& structure_judge();

}  // namespace regduel::oracles
