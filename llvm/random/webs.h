// The values of a random program, each a vreg of its own, as LLVM wants them: of the live interval of a vreg all parts are connected.
//
// Tested by mir_program_test.cpp.
#pragma once

#include <map>
#include <set>

#include "llvm/random/mir_form.h"

namespace regduel::llvm {

// By number of a block: the vregs that some path from its beginning reads before it writes all of them.
[[nodiscard]] std::map<int, std::set<int>> live_in(const MirFunction& f);
// Gives each web, that is definitions and reads that reach each other, a vreg of its own. Requires that nothing is live into the entry.
void split_into_webs(MirFunction& f);
// A vreg that lives around a loop and is read in one block of it alone is read in another one as well. RegAllocFast takes it for dead at the end of
// its block: what the -O0 pipeline makes has no such vregs.
void read_in_a_second_block(MirFunction& f);

}  // namespace regduel::llvm
