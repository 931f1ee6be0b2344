// The instruction walk: an attempt with spilling that replaces assign() with knob 622.
//
// The walk is a linear scan. Vregs come in the order in which their ranges begin, and each gets its home, for its whole range, at that
// moment. A position is free if the occupancy has no conflict over the whole range, so that holes, clobbers, moments of rets and
// blocked units are respected as in any attempt. Precoloured vregs have their places before the walk begins; so have vregs that keep
// the home of an earlier round.
//
// If no position is free for a range, the masks of the moment, R or W of an instruction, at which it begins count:
//
//   used             units held by operands of this very instruction
//   must-not-spill   used, or held now by a vreg that cannot be spilled (a temporary): operands may move, but not go to memory;
//                    temporaries stay
//
// Then one of these leaves. A vreg that leaves its place moves if another is free for its whole range, which costs nothing, else it
// is spilled:
//
//   first candidate     the cheapest vreg that is live now, is not must-not-spill, and whose place alone is enough
//   fallback candidate  the cheapest set of vregs that stand in one aligned place anywhere in the range, not only now
//   the newcomer        as a candidate among them, if it can be spilled
//
// The first candidate has the least spill cost a unit; among equals one that can be rematerialised; then the one whose range
// ends last; then one that is next to memory (every def of it a load, or every read of it a store); then the one from the
// earlier epoch; then the lower number. The fallback candidate is taken if it costs less than the first, or if there is no first.
// An unspillable temporary without a place gets its instruction pinned.
//
// Effects of some instructions on the walk:
//
//   loads            (refill; !read without !write) vregs that only they define leave first among equals
//   stores           (spill; !write without !read) so do vregs that only they read
//   call             its clobbers are hard conflicts of vregs that live across it; the epoch, the number of calls so far, advances
//
// If something has to be pinned, the walk is done again, recursively, with other flags: on the first such level must-not-spill is
// only the units that operands hold at this very moment, so that temporaries may evict all other vregs, and move; on the second
// the fallback candidate comes first as well. The best result counts (is_cheaper), among equals that of the earlier level.
//
// With knob 641 (file R), positions in the bank of a co-operand that has its home already are filtered as in any attempt
// (placement.h), and moves resolve remaining conflicts at the end (bank_moves.h).
//
// Source: source 000 "Per-Instruction Assignment: sub_9680F0"; DECISIONS "knobs by offset" (622), "opcodes 52, 97, 236". Deviates: a
// home never changes along the walk, since a program allocated here has one home a vreg. Tested by instruction_walk_test.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "allocator/assign/attempt.h"
#include "allocator/assign/file_allocator.h"
#include "allocator/spill_code/location.h"

namespace regduel::allocator {

// Counts of the walk that was returned.
struct WalkFacts {
  int runs = 0;              // 1 to 3: levels that were tried
  int level = 0;             // the one that was returned: 0 to 2
  int epochs = 0;            // calls passed
  int first_candidates = 0;  // how often each left
  int fallback_candidates = 0;
  int newcomers = 0;
  int moved = 0;           // vregs that left their place for another
  int remat_victims = 0;   // spilled, and can be computed again
  int banks_moved = 0;     // vregs moved at the end because of banks
  int bank_conflicts = 0;  // that are left
};

// Requires options of kind Evicting. Ensures that homes are hard-conflict free.
//   if_spilled   by vreg of the program before spill code: its location if it is spilled; empty = none is rematerialised
//   facts        null = not asked
// Cost: as an attempt with eviction; up to three times that if an instruction has to be pinned.
[[nodiscard]] Attempt walk_instructions(const FileAllocator& allocator, const AttemptOptions& options,
                                        std::span<const Location> if_spilled, WalkFacts* facts = nullptr);

// Whether `a` is the better of two attempts with spilling of one round and file: it fits; fewer pins; less spill cost.
[[nodiscard]] bool is_cheaper(const Attempt& a, const Attempt& b);

}  // namespace regduel::allocator
