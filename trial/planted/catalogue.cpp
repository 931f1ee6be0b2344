// See catalogue.h. A new bug: REGDUEL_PLANTED("…") where it would be made, and a line here.
#include "trial/planted/catalogue.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/planted.h"
#include "duel/allocators.h"
#include "passes/passes.h"

namespace regduel::trial {
namespace {

constexpr std::array kBugs = std::to_array<PlantedBug>({
    {"briggs-callee-saved-not-saved", "callee-saved registers are not saved"},
    {"briggs-clobbers-spare-tuples", "calls clobber single registers only"},
    {"briggs-coalesces-what-interferes", "copies are coalesced without a look at the interference graph"},
    {"briggs-early-clobber-shares", "what is held while the uses are read does not interfere"},
    {"briggs-edge-block-of-one-copy-dropped", "the copies on an edge are lost where it is one copy"},
    {"briggs-guarded-def-kills", "a def under a guard ends the live range of the old value"},
    {"briggs-liveness-of-first-successor", "what only the second successor reads is not live"},
    {"briggs-merge-forgets-clobbers", "a coalesced node may stand where only the first of the two may"},
    {"briggs-piece-stored-at-the-front", "a piece of a spilled value is stored at the start of its slot"},
    {"briggs-refill-redundant-on-one-path",
     "a refill is left out where its register holds the value on the first path that leads there"},
    {"briggs-remat-of-a-memory-read", "a load from memory that others write is done again later"},
    {"briggs-two-defs-share", "two defs of one instruction get one register"},
    {"classic-candidate-unchecked", "a pre-allocated home is taken although somebody else is there"},
    {"classic-chain-walked-for-its-first-member", "an alias chain is placed by the interference of its first member alone"},
    {"classic-defs-of-one-instruction-share", "ranges that begin at one moment do not interfere"},
    {"classic-fails-instead-of-falling-back", "where the rounds of spilling do not end, the allocation fails"},
    {"classic-first-unit-of-a-tuple-tested", "a tuple is placed where its first unit is free"},
    {"classic-kept-home-unchecked", "an attempt goes on with the homes of the one before, free or not"},
    {"classic-walk-looks-no-further-than-a-hole",
     "the instruction walk asks for a free place up to the first hole of a live range only"},
    {"classic-wide-neighbour-occupies-one-unit", "of a tuple that interferes only the first unit is occupied"},
    {"clean-guarded-store-is-dead", "a store under a guard counts as dead code"},
    {"cssa-lost-copy", "the result of a phi becomes one with its operands although it lives on when they change"},
    {"cssa-swap-one-by-one", "the copies of several phis are done one after the other, whoever reads what they write"},
    {"exact-dead-copies-have-edges", "a copy that nothing reads has edges in the graphs of a proof"},
    {"exact-equal-values-interfere", "values that copies make equal interfere in the graphs of a proof"},
    {"exact-operands-interfere", "what one instruction reads interferes in the graphs of a proof"},
    {"exact-split-nothing-is-computed-again", "in the bound by point each value has to be stored"},
    {"fatpoint-best-homes-overwritten", "an attempt that is not the best overwrites the homes of the best"},
    {"fatpoint-bit-of-another-predicate", "every second predicate of a pack goes into the bit of the one before it"},
    {"fatpoint-chain-joins-fixed-unasked", "a vreg joins a precoloured one in its register without a look at who else lives there"},
    {"fatpoint-chain-placed-by-its-first-member", "a chain is placed where its first member finds a free register"},
    {"fatpoint-chain-without-its-start", "of a value that is computed again in several steps only the last one is repeated"},
    {"fatpoint-claims-one-register-less", "the count of registers that the allocator claims misses the last unit"},
    {"fatpoint-clobber-missed", "calls clobber nothing"},
    {"fatpoint-coalesces-across-a-def", "vregs joined by a copy share a register although one changes while the other lives"},
    {"fatpoint-dead-def-has-no-range", "a def that nobody reads takes no register, and overwrites somebody's"},
    {"fatpoint-early-clobber-ignored", "an early-clobber def may share a register with a use of its instruction"},
    {"fatpoint-edge-keeps-old-homes", "a value that changes its register from one block to the next does not move on the edge"},
    {"fatpoint-edge-slots-overwritten", "moves between slots on an edge are done one after the other"},
    {"fatpoint-evicted-not-spilled", "of several vregs that make room only the first one goes"},
    {"fatpoint-evicts-into-a-restored-register",
     "eviction puts the operand of a ret where the restore of a callee-saved register goes"},
    {"fatpoint-fails-instead-of-falling-back", "gives up where everything in memory would still fit"},
    {"fatpoint-guarded-def-kills", "a def under a guard ends the live range of the old value"},
    {"fatpoint-guarded-store-without-refill", "a guarded def of a spilled vreg is stored whole, without the old value in it"},
    {"fatpoint-impossible-too-soon", "an instruction that needs exactly what is there counts as impossible"},
    {"fatpoint-kept-home-unchecked", "a vreg gets its home of the last round back although somebody else is there now"},
    {"fatpoint-limit-off-by-one", "one register above the limit is used"},
    {"fatpoint-liveness-forgets-back-edges", "what a loop reads in its next turn is not live at its end"},
    {"fatpoint-moves-onto-what-is-read", "a value moves before an instruction to a register that the instruction still reads"},
    {"fatpoint-odd-callee-saved-lost", "every other callee-saved register is not saved"},
    {"fatpoint-parallel-copy-in-any-order", "the moves of a parallel copy overwrite what others still read"},
    {"fatpoint-part-def-kills-all", "a def of one half ends the live range of the other"},
    {"fatpoint-phi-copies-on-a-critical-edge", "the copies of a phi stand before a branch that may go elsewhere"},
    {"fatpoint-phi-lost-copy", "the phis of a block take effect one after the other"},
    {"fatpoint-refill-kept-across-blocks", "a refilled value is used again in the next block, wherever control comes from"},
    {"fatpoint-rejoin-among-others", "a value goes to the register that it is copied to although somebody else stands there"},
    {"fatpoint-remat-despite-other-defs", "a value is computed again although another def may have replaced it"},
    {"fatpoint-ret-takes-callee-saved", "an operand of a ret stands in a callee-saved register"},
    {"fatpoint-slot-shared-too-early", "the slot behind a large one begins inside it"},
    {"fatpoint-split-leaves-unstored", "a value whose live range is split leaves its register without a store"},
    {"fatpoint-swap-shares-a-register", "two defs of a parallel copy get one register"},
    {"fatpoint-tie-dropped", "a tied def does not take the register of its use"},
    {"fatpoint-wanted-slot-unaligned", "a tuple follows its copy to a place where it is not aligned"},
    {"fatpoint-wide-access-swaps-halves", "a wide access moves two neighbours whose slots stand the other way round"},
    {"fatpoint-wide-marks-first-unit", "of a tuple only the first unit counts as taken"},
    {"llvm-defs-of-a-copy-share", "two defs of one parallel copy count as equal whatever they copy"},
    {"llvm-phi-looks-at-one-edge", "a phi counts as a copy where its use on the first edge is one"},
    {"nvptx-high-half-unasked", "of something wide only the first piece is asked whether it interferes"},
    {"nvptx-phi-copies-each-use", "a phi counts as a copy of each of its uses, though it is one of all only where all are one"},
    {"schedule-loads-pass-stores", "a load sinks into another block, whatever is written on the way"},
    {"schedule-read-before-write", "in a block a read of memory goes in front of what changes memory"},
    {"uniform-loads-are-the-same", "what is read from memory counts as the same in all threads"},
    {"uniform-writes-in-diverged-blocks", "uniform registers are written where not all threads are"},
});

constexpr std::array kLosses = std::to_array<PlantedBug>({
    {"fatpoint-loss-cold-refills", "outside loops no refilled value is used twice", "fatpoint/briggs:spill_load_bytes>=2"},
    {"fatpoint-loss-loops-look-cold", "the more often a block runs, the cheaper its refills look",
     "fatpoint/briggs:weighted_spill_bytes>=2"},
    {"fatpoint-loss-memory-too-soon", "everything goes to memory where the first attempt finds no room",
     "fatpoint/briggs:weighted_spill_bytes>=4"},
    {"fatpoint-loss-nothing-is-recomputed", "constants are stored and refilled", "fatpoint/briggs:weighted_spill_bytes>=4"},
    {"fatpoint-loss-tuples-look-cheap", "tuples are spilled before all else, whatever that costs",
     "fatpoint/briggs:weighted_spill_bytes>=4"},
});

}  // namespace

std::span<const PlantedBug> planted_bugs() { return kBugs; }
std::span<const PlantedBug> planted_losses() { return kLosses; }

const PlantedBug* find_planted_bug(std::string_view name) {
  for (const std::span<const PlantedBug> table : {planted_bugs(), planted_losses()})
    if (const auto at = std::ranges::find(table, name, &PlantedBug::name); at != table.end()) return &*at;
  return nullptr;
}

const passes::Pass* pass_with(std::string_view bug) { return passes::find_pass(bug.substr(0, bug.find('-'))); }

std::vector<const ir::Allocator*> duelists_against(std::span<const std::string> bugs) {
  const auto has = [&](const passes::Pass* pass) {
    return std::any_of(bugs.begin(), bugs.end(), [&](const std::string& bug) { return pass_with(bug) == pass; });
  };
  std::vector<const ir::Allocator*> duelists;
  if (has(nullptr)) duelists.assign(duel::all_duelists().begin(), duel::all_duelists().end());
  for (const std::string& name : duel::names_on_request())
    if (std::ranges::any_of(bugs, [&](const std::string& bug) { return bug.starts_with(name + "-"); }))
      duelists.push_back(duel::find_allocator(name));
  for (const passes::Pass* pass : passes::passes())
    for (const ir::Allocator* a : duel::all_duelists())
      if (has(pass)) duelists.push_back(duel::find_allocator(fmt::format("{}+{}", pass->name(), a->name())));
  return duelists;
}

#ifdef REGDUEL_ZOO
bool has_planted_bugs() { return true; }
void plant(std::string_view names) {
  for (const std::span<const PlantedBug> table : {planted_bugs(), planted_losses()})
    for (const PlantedBug& bug : table) planted_switches[planted_switch(bug.name)] = false;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (find_planted_bug(name) != nullptr) planted_switches[planted_switch(name)] = true;
  }
}
bool is_planted(std::string_view name) { return find_planted_bug(name) != nullptr && planted_switches[planted_switch(name)]; }
#else
bool has_planted_bugs() { return false; }
void plant(std::string_view) {}
bool is_planted(std::string_view) { return false; }
#endif

}  // namespace regduel::trial
