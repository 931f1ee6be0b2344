// The knobs of the graph colourers, and the rules that they make. Tested by knobs_test.cpp.
#pragma once

#include "ir/knobs.h"
#include "reference/rules.h"

namespace regduel::reference {

[[nodiscard]] const ir::KnobTable<Rules>& briggs_knobs();
[[nodiscard]] const ir::KnobTable<Rules>& cicc_knobs();

}  // namespace regduel::reference
