// The structure judge: everything that can be seen of an allocation without following a value (FORMAT.md, "Allocated
// programs"). Each rule has a category of its own, listed at the head of structure.cpp.
#pragma once

#include "oracles/judge.h"

namespace regduel::oracles {

// Cost: O(instructions + operands) expected, O(slots log slots).
[[nodiscard]] const Judge& structure_judge();

}  // namespace regduel::oracles
