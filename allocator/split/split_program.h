// Live-range splitting: a vreg becomes several pieces, one for each stretch in a register, and one for the value in memory.
//
// A vreg that leaves its register somewhere (residence.h) is cut into *pieces*: `p = op` at its def, `m = copy p` where it goes to
// memory, `q = copy m` where it comes back. Piece m is in memory from the start; the others are ordinary vregs, and may be spilled
// too. At each point all pieces of a vreg that live hold its value, so they share one slot, and a copy between two pieces in memory
// needs no code.
//
//   stores   either where the value leaves its register and memory does not have it yet, or behind each def, whichever is executed
//            less often; a store that no refill reads is dropped later (frame/slot_layout.h)
//   edges    moves on an edge stand at the end of the edge that has no other edge, or in an edge block
//   remats   a rematerialised value needs no stores: its def is m
//
// Source: source 001 "update_refill_tracking", "Epoch tracking" (values are reloaded behind calls); Braun and Hack 2009 for where.
// Tested by split_program_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/spill_code/location.h"
#include "allocator/split/residence.h"
#include "ir/allocator.h"
#include "ir/cfg.h"

namespace regduel::allocator {

struct SplitProgram {
  ir::Function f;                     // vregs of the program, then new ones; inserted copies have no id yet
  std::vector<ir::VRegId> first_of;   // by vreg: the vreg of which it is a piece; itself if it was not split
  std::vector<ir::VRegId> in_memory;  // the pieces that are in memory
};

// Nothing if no vreg of these files leaves its register, or the program is not wanted.
//   f             without phis (out_of_ssa)
//   can_split     by vreg: 1 = may be split
//   is_recomputed by vreg: 1 = it is rematerialised instead of refilled
//   is_wanted     asked once, with the weighted bytes that stores and refills would move
[[nodiscard]] std::optional<SplitProgram> split_live_ranges(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live,
                                                            const Registers& registers, std::span<const char> can_split,
                                                            std::span<const char> is_recomputed,
                                                            std::span<const std::int64_t> frequency,
                                                            std::span<const int> loop_depth,
                                                            const std::function<bool(std::int64_t)>& is_wanted);

}  // namespace regduel::allocator
