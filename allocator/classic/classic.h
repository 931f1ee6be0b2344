// The allocator `classic`: fat-point allocation with spilling as sources 000 and 001 have it. README.md walks through it.
#pragma once

#include <memory>

#include "ir/allocator.h"

namespace regduel::allocator {

// name() == "classic". Stateless and deterministic. Ends in a correct allocation within the limits, or, if some instruction cannot be
// packed into them, in AllocFailure{Impossible}. A bad knob gives BadKnob before anything else.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_classic();

}  // namespace regduel::allocator
