// The variant of the reference to the letter of source 003, as far as the letter holds (DECISIONS.md, "Reference"):
//
//   K         as many registers as may be used: the limit, or fewer by the knob cicc-registers (15 in the source)
//   coalesce  Briggs' test and George's, degrees weighed by 0.8
//   select    the two tiers of the source (colour/tiers.h), inverted as they are; what stands around single instructions comes
//   last.
//             Where a round spills nothing new that way, the order of briggs takes over, and a note of the allocation says so
//   costs     defs x uses x latency x 1.5^depth (spill.h), the victim by cost over degree
//   refills   spill/lazy_refill.h
// The first number of registers that is tried is K: nobody looks for fewer. Tested by cicc_test.cpp.
#pragma once

#include <memory>

#include "ir/allocator.h"

namespace regduel::reference {

// name() == "cicc". Ends as briggs does. Stateless: may be used from several threads.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_cicc();

}  // namespace regduel::reference
