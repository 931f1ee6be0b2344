// How many bytes of a frame hold something at a time: what a frame could be as small as, had its slots no gaps and no other
// neighbours.
#pragma once

#include <cstdint>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::oracles {

// The most bytes of the frame in `space` that hold, at one point of the reachable program, what some path has stored there and some
// path refills. Accesses of lowered spill code do not count: they name no slot.
//   f   an allocated program
// Cost: O(blocks x bytes of the frame / 64 x depth of loops + bytes moved).
[[nodiscard]] std::int64_t most_bytes_in_use(const ir::Function& f, const ir::Cfg& cfg, ir::MemSpace space);

}  // namespace regduel::oracles
