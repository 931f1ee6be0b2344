// Patterns of memory, which change where spilled values are and how they get there. Each is a Pattern::apply (pattern.h).
#pragma once

#include "trial/faults/pattern.h"

namespace regduel::trial {

// Registers are spilled where nothing mentions them, and destroyed meanwhile; slots serve several of them in turn.
std::optional<Patterned> spill_stretches(const Subject& subject, Random& random);
// Local slots move into shared memory, some of them to the very offsets that they had.
std::optional<Patterned> move_to_shared(const Subject& subject, Random& random);
// Spills and refills of words in pieces, down to single bytes.
std::optional<Patterned> split_accesses(const Subject& subject, Random& random);
// A slot becomes registers of another file, or spare ones of the same: its spills and refills become copies.
std::optional<Patterned> detour(const Subject& subject, Random& random);

// A spill of a predicate becomes a write of one bit of a pack, and a refill a read of it. p2r knows only the bit that is numbered
// like the predicate's register: where the access has another register, the two predicates change places around it. A pack in
// memory comes into a register around each access.
struct PackStyle {
  bool numbered = true;  // p2r and r2p, else bit_spill and bit_refill
  bool several = false;  // p2r and r2p take a bystander with them
  bool in_memory = false;
};
std::optional<Patterned> pack_predicates(const Subject& subject, Random& random, PackStyle style);

}  // namespace regduel::trial
