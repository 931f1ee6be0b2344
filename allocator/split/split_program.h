// Live-range splitting: a vreg becomes several, one a stretch that it spends in a register, and one that is the value in memory.
//
// Of each vreg that leaves its register somewhere (residence.h) come *pieces*: `p = op` where it was defined, `m = copy p` where it
// goes to memory, `q = copy m` where it comes back. The piece m lives in memory from the start; the others are vregs like any
// other, and may be spilled too. All pieces of one vreg hold its value of the moment, so they share one slot, and a copy between
// two of them that are in memory is none.
//
//   stores   either where the value leaves its register and memory does not have it yet, or behind each def: whichever is executed
//            less often; a store that no refill sees vanishes later (spill/slot_layout.h)
//   edges    what moves on an edge moves at its one end that has no other edge, or in an edge block
//   remats   a value that is computed again needs no stores: its def is m
//
// Source: source 001 "update_refill_tracking", "Epoch tracking" (values are reloaded behind calls); Braun and Hack 2009 for where.
// Tested by split_program_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/spill_code/location.h"
#include "allocator/split/residence.h"
#include "ir/allocator.h"
#include "ir/cfg.h"

namespace regduel::allocator {

struct SplitProgram {
  ir::Function f;                     // vregs of the program, then new ones; inserted copies have no id yet
  std::vector<ir::VRegId> first_of;   // by vreg: the one whose pieces it belongs to; itself where it was not split
  std::vector<ir::VRegId> in_memory;  // the pieces that are in memory
  std::int64_t moves = 0;             // bytes that stores and refills move, as often as they do
};

// Nothing where no vreg of these files leaves its register.
//   f             without phis (out_of_ssa)
//   can_split     by vreg: 1 = may be split
//   is_recomputed by vreg: 1 = it is computed again instead of refilled
[[nodiscard]] std::optional<SplitProgram> split_live_ranges(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live,
                                                            const Registers& registers, std::span<const char> can_split,
                                                            std::span<const char> is_recomputed,
                                                            std::span<const std::int64_t> frequency,
                                                            std::span<const int> loop_depth);

}  // namespace regduel::allocator
