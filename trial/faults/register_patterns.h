// Patterns of registers: values move, are in several places, are computed again, change place on edges. Each is a Pattern::apply
// (pattern.h).
#pragma once

#include "trial/faults/pattern.h"

namespace regduel::trial {

// Copies go through memory: the original one becomes the spill or the refill, another is inserted for the other way. A guarded one
// is a may-def in memory: the old value, then the new one under the guard, then back.
std::optional<Patterned> copies_through_memory(const Subject& subject, Random& random);
// In front of its readers in the block a repeatable def is repeated, in place, while nothing has written what it reads; before that
// its register is destroyed, sometimes.
std::optional<Patterned> remat(const Subject& subject, Random& random);
// A tuple that no other one reaches beyond becomes a callee-saved one, which is saved at the entry, in memory or in another
// register, and restored before each ret.
std::optional<Patterned> callee_saved(const Subject& subject, Random& random);
// In a stretch of a block two tuples change places, or one is in a spare tuple meanwhile: by copies or through memory at both ends.
// The spare one may be callee-saved: it is saved and restored around the stretch (shrink-wrapping).
std::optional<Patterned> move_stretch(const Subject& subject, Random& random);
// Values are read from other registers that hold the same: after copies, packs and unpacks, and after copies made for that.
std::optional<Patterned> read_twins(const Subject& subject, Random& random);
// Around a guarded instruction what it reads is in memory, spilled or refilled under the guard, and under its opposite besides.
std::optional<Patterned> guarded_accesses(const Subject& subject, Random& random);
// Edges lead through one more edge block, or through a chain, in which registers change places and back.
std::optional<Patterned> chain_edge_blocks(const Subject& subject, Random& random);
// A deleted phi stays after all, in the register from which its value is read first.
std::optional<Patterned> keep_phis(const Subject& subject, Random& random);

}  // namespace regduel::trial
