// Plain facts about a program that tests and statistics of this folder need. Computed here from the instructions alone;
// neither allocators nor judges see it.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace regduel::generate {

// Operand reads that some path reaches without a whole definition of what they read, as lines for people; at most `most`.
// Blocks that the entry does not reach are left out. A guarded def is a definition for reads under the same guard only, where all
// defs of that vreg have that guard and the predicate is not written in between. Architectural vregs are defined at entry.
// Cost: O(blocks x vregs) a pass.
[[nodiscard]] std::vector<std::string> undefined_reads(const ir::Function& f, std::size_t most = 10);

// The largest number of units of `file` that are live at once (whole roots; a read that nothing defines counts as live).
[[nodiscard]] int max_live(const ir::Function& f, ir::RegFile file);

}  // namespace regduel::generate
