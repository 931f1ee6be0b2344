// MaxLive of a program before allocation. The quality judge has a liveness analysis of its own, on bytes; it shares none with an
// allocator.
#pragma once

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::oracles {

// MaxLive of each file, in units, over all reachable program points and the two moments of each instruction (reads: what is live
// before it and its early-clobber defs; writes: what is live after it and its defs). A vreg counts with all its units while
// any of its bytes is live: some def of the byte may reach the point, and a use of it may be reached.
// Cost: O(operands + total size of the live-in sets), times a small factor for loops.
[[nodiscard]] ir::PerFile<int> max_live(const ir::Function& f, const ir::Cfg& cfg);

}  // namespace regduel::oracles
