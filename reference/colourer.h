// The two graph colourers: one class with two sets of rules (rules.h). README.md walks through the phases.
//
// briggs   the reference allocator: textbook graph colouring after Briggs, Cooper and Torczon (1994)
// cicc     the variant to the letter of source 003, as far as the letter holds (DECISIONS.md, "Reference"):
//
//   K         at most 15 registers of a file, or what the knob cicc-registers says; in a duel of equals it is to be the limit. Where
//             values go to memory for it, a note of the allocation says so
//   coalesce  Briggs' test and George's, degrees weighed by 0.8
//   select    the two tiers of the source (colour/tiers.h), inverted as they are; what stands around single instructions comes
//             last. Where a round spills nothing new that way, the order of briggs takes over, and a note of the allocation
//             says so
//   costs     defs x uses x latency x 1.5^depth (spill/costs.h), the victim by cost over degree
//   refills   spill/lazy_refill.h
//
// The first number of registers that cicc tries is K: it does not look for fewer. Tested by briggs_test.cpp and cicc_test.cpp.
#pragma once

#include <memory>

#include "ir/allocator.h"

namespace regduel::reference {

// name() is "briggs" or "cicc". Both end, for any well-formed program, in a correct allocation within the limits, or in Impossible
// with ir::failure_message(limit of the file) where an instruction has no packing (FORMAT.md "Demand"), or in BadKnob. Stateless:
// may be used from several threads.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_briggs();
[[nodiscard]] std::unique_ptr<ir::Allocator> make_cicc();

}  // namespace regduel::reference
