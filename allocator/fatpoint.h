// The production allocator: fat-point greedy allocation with spilling (sources 000 and 001). README.md walks through it.
#pragma once

#include <memory>

#include "ir/allocator.h"

namespace regduel::allocator {

// name() == "fatpoint". Stateless and deterministic: the same program, target and options give the same bytes.
// Ends in a correct allocation within the limits, or, if some instruction cannot be packed into them, in
// AllocFailure{Impossible, failure_message(limit of that file)}. A bad knob gives BadKnob before anything else.
// Cost: near-linear in instructions x pressure for each round; a few rounds with spilling.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_fatpoint();

}  // namespace regduel::allocator
