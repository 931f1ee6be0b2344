// The production allocator: first fit for chains of copies, eviction, split live ranges, spilling in rounds. README.md walks through it.
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
