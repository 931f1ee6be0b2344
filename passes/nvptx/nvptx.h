// The coalescer for NVPTX of source 004, over RIR: the pass `nvptx`.
//
//   type_classes, copy_families   the tables: which vregs may become one, which instructions move them
//   origins, candidates           what can be merged: six kinds
//   intervals                     where pieces of vregs are live and written
//   merged, interference          what has become one, and what may
//   constrained_copies, worklist  what must stay, and in which order the rest is tried
//   coalescer                     first block by block, then across blocks
//   rewrite                       the program that comes of it
//
// The rules of the source: type classes are disjoint, only copies within one of them and copies of parameters are coalesced, what is
// wider than 64 bits goes piece by piece, the register with the lowest number comes first. How each item of the source is met is said
// in passes/README.md. Tested by nvptx_test.cpp, properties/pass_knobs_test.cpp and properties/passes_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

[[nodiscard]] const Pass& nvptx_coalescer();

}  // namespace regduel::passes
