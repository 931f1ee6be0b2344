// Arguments of functions that all threads of a warp share: of a function that nothing outside its file calls, and nothing by its address,
// an argument that every call passes as a whole register that does not vary, under no guard, in a block that all threads run together
// (divergence.h). Its vreg is marked `uniform`. A function that passes its own argument on to itself keeps it as it is.
//
// Tested by shared_arguments_test.cpp.
#pragma once

#include <span>

#include "ir/program.h"

namespace regduel::passes {

//   functions    of one file, over vregs
//   is_private   by function: 1 = nothing outside the file calls it
// Cost: that of Divergence for each function that calls a private one, as often as arguments are found.
void mark_shared_arguments(std::span<ir::Function> functions, std::span<const char> is_private);

}  // namespace regduel::passes
