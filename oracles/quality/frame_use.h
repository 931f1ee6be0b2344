// The most bytes of a frame that are in use at one time: a lower bound of the size of a frame with the same slots.
#pragma once

#include <cstdint>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::oracles {

// The most bytes of the frame in `space` that are in use at one point of the reachable program. A byte is in use if some path to
// the point has stored it, and some path from the point refills it. Accesses of lowered spill code do not count: they name no slot.
//   f   an allocated program
// Cost: O(blocks x bytes of the frame / 64 x depth of loops + bytes moved).
[[nodiscard]] std::int64_t most_bytes_in_use(const ir::Function& f, const ir::Cfg& cfg, ir::MemSpace space);

}  // namespace regduel::oracles
