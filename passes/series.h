// Passes one after the other, in an order that is a knob: so that a campaign draws the order of the coalescers with each program,
// and a finding keeps it.
//
//   series-order   names of passes with + between them, each any number of times: "llvm+cssa", or none
//
// The knobs of all other passes are its own too. What passes promise (pass.h) holds for their series, step by step.
// Tested by series_test.cpp, and against the judges by properties/passes_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

inline constexpr std::string_view kSeriesOrder = "series-order";

[[nodiscard]] const Pass& series();

}  // namespace regduel::passes
