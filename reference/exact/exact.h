// The exact allocators. `exact`: the fewest registers without splitting and without spilling, proved where the effort lasts.
//
// `exact` colours the interference graphs by value (value_graphs.h), each file by itself, with as few units as there can be
// (fewest_units.h). The bound is about all allocations that keep each value in one home (colour/interference_graph.h has the class). No
// copy is coalesced first, because a colouring of the merged graph is one of the whole, but not the other way round.
// docs/bounds.md compares the bounds. Tested by exact_test.cpp, and by scripts/judge/least-registers against all allocations of small programs.
#pragma once

#include <memory>
#include <string_view>

#include "ir/allocator.h"

namespace regduel::reference {

// A knob of both that is not listed: the path of the files for each formula and its proof, each with an ending of its own. Empty,
// which is the default, means no files.
inline constexpr std::string_view kExactProof = "exact-proof";

// name() == "exact". Ends in a correct allocation within the limits, of which a note says per file whether its registers are proved
// to be the fewest; in Impossible as briggs does; in Unsupported if no allocation fits without spilling, or if the effort does
// not suffice to find out; or in BadKnob. Stateless: may be used from several threads. Cost: fewest_units.h.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_exact();

// name() == "exact-spill": the least weighted spill bytes within the limits, each value in a register or in memory throughout
// (least_spill.h), with a note that says whether this is proved, or gives the bounds at which the effort ended. Ends as "exact"
// does; Unsupported also with more values than the knob exact-values.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_exact_spill();

// name() == "exact-split": the least weighted spill bytes where a value may be in a register at one point and in memory at another
// (by_point/least.h), with a note as above. Where it has a bound and no allocation, chordal's.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_exact_split();

}  // namespace regduel::reference
