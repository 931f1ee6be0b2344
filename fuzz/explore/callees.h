// Bodies for the functions that a case calls. With them a case is a file of several functions, and the judge of the call graph
// (oracles/calls/) looks at what each duelist makes of it.
#pragma once

#include <cstdint>

#include "duel/case.h"

namespace regduel::fuzz {

// Gives a body to each function that the program calls by name and that no other function of the case is, runtime functions of the
// ABI excepted: a small random device function of the program's ABI. All calls of the case then list what the bodies may write
// (oracles::lists_what_callees_may_write), and the limits are as high as the bodies need.
//   Ensures  the functions of the case are well-formed, and the case is as it was where nothing is called.
void give_callees(duel::Case& c, std::uint64_t seed);

}  // namespace regduel::fuzz
