// See patterns.h.
#include "trial/faults/patterns.h"

#include "trial/faults/register_patterns.h"
#include "trial/faults/slot_patterns.h"

namespace regduel::trial {
namespace {

template <bool kNumbered, bool kSeveral, bool kInMemory>
std::optional<Patterned> packed(const Subject& s, Random& random) {
  return pack_predicates(s, random, {.numbered = kNumbered, .several = kSeveral, .in_memory = kInMemory});
}

}  // namespace

std::span<const Pattern> patterns() {
  static constexpr Pattern kPatterns[] = {
      {"p2r", "predicate spill slots become bits of a pack register, by p2r and r2p, one at a time", packed<true, false, false>},
      {"p2r-several", "the same, with several predicates in one p2r or r2p", packed<true, true, false>},
      {"spilled-pack", "the same by p2r and r2p, on a pack that is spilled and refilled around each of them",
       packed<true, false, true>},
      {"spilled-bits", "the same by bit_spill and bit_refill, on a pack in memory", packed<false, false, true>},
      {"stretches", "registers are spilled where nothing mentions them, and destroyed meanwhile", spill_stretches},
      {"shared", "local spill slots move into shared memory", move_to_shared},
      {"split", "spills and refills in pieces down to single bytes", split_accesses},
      {"detour", "spill slots become registers of another file", detour},
      {"copy-by-memory", "copies, guarded ones too, become a spill and a refill", copies_through_memory},
      {"remat", "repeatable defs are repeated in front of their readers, with their sources, in chains", remat},
      {"callee-saved", "registers become callee-saved ones, saved at the entry and restored before each ret", callee_saved},
      {"moved", "two tuples change places in a stretch of a block, or one is in a spare or callee-saved one", move_stretch},
      {"twins", "values are read from other registers that hold the same, after copies, packs and unpacks", read_twins},
      {"guarded", "spills and refills under a guard and under its opposite, around guarded instructions too", guarded_accesses},
      {"edge-chain", "edges lead through one more edge block, or a chain of them", chain_edge_blocks},
      {"kept-phi", "a phi stays, in the register from which its value is read first", keep_phis},
  };
  return kPatterns;
}

}  // namespace regduel::trial
