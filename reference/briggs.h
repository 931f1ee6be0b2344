// The reference allocator: textbook graph colouring after Briggs, Cooper and Torczon (1994). README.md walks through its phases.
#pragma once

#include <memory>

#include "ir/allocator.h"

namespace regduel::reference {

// name() == "briggs". Ends, for any well-formed program, in a correct allocation within the limits, or in Impossible with
// ir::failure_message(limit of the file) where an instruction has no packing (FORMAT.md "Demand"), or in BadKnob.
// Stateless: may be used from several threads.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_briggs();

}  // namespace regduel::reference
