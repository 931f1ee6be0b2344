// The exact allocators. `exact`: the fewest registers without splitting and without spilling, proved where the effort lasts.
//
// `exact` colours the graphs that briggs colours (../lower.h, ../colour/interference_graph.h), each file by itself, with as few
// units as there can be (fewest_units.h). No copy is coalesced first: a colouring of the merged graph is one of the whole, not the
// other way round. Tested by exact_test.cpp.
#pragma once

#include <memory>

#include "ir/allocator.h"

namespace regduel::reference {

// name() == "exact". Ends in a correct allocation within the limits, of which a note says per file whether its registers are proved
// to be the fewest; in Impossible as briggs does; in Unsupported where nothing fits without spilling, or nobody knows whether
// something does; or in BadKnob. Stateless: may be used from several threads. Cost: fewest_units.h.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_exact();

// name() == "exact-spill": the least weighted spill bytes within the limits, each value in a register or in memory throughout
// (least_spill.h), and a note that says so, or between what they are where the effort ends. Ends as "exact" does; Unsupported also
// with more values than the knob exact-values.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_exact_spill();

}  // namespace regduel::reference
