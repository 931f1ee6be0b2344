// The ways to damage an allocation at a place: a register is replaced, an instruction is dropped, moved or repeated, a slot is
// exchanged. An edit returns false where it cannot be made there. Tested through operators_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>

#include "trial/faults/site.h"

namespace regduel::trial {

struct Trial {
  EditProgram program;
  const Site& site;
  Random& random;

  [[nodiscard]] std::vector<EditInst>& insts(const Place& at) { return program.blocks[at.block].insts; }
  [[nodiscard]] EditInst& inst(const Place& at) { return insts(at)[at.inst]; }
  [[nodiscard]] ir::Operand& op(const Place& at) { return inst(at).ops[at.operand]; }
};
using Edit = std::function<bool(Trial&, const Place&)>;

// --- registers ------------------------------------------------------------------------------------------------------
// Another register for the operand at a place, which is in `home`; nothing where there is none.
using Home = std::function<std::optional<ir::PReg>(Trial&, const Place&, ir::PReg home)>;
[[nodiscard]] Home another(bool used_only);
std::optional<ir::PReg> in_other_file(Trial& t, const Place& at, ir::PReg home);
[[nodiscard]] Home from_unit(int (*first)(const Site&, ir::PReg home));  // the first tuple at or above this unit
std::optional<ir::PReg> in_reserved(Trial& t, const Place& at, ir::PReg home);
std::optional<ir::PReg> off_alignment(Trial& t, const Place& at, ir::PReg home);
std::optional<ir::PReg> of_other_size(Trial& t, const Place& at, ir::PReg home);
std::optional<ir::PReg> with_other(Trial& t, const Place& at, ir::PReg home);  // where the place's other operand stands
[[nodiscard]] Home in_pack_read_later(ir::Op by);  // the pack of the next such instruction, which nothing mentions before it
std::optional<ir::PReg> in_clobbered_later(Trial& t, const Place& at,
                                           ir::PReg home);                     // of an instruction that the value lives across
std::optional<ir::PReg> in_unsaved(Trial& t, const Place& at, ir::PReg home);  // a callee-saved register that nothing mentions

[[nodiscard]] Edit give(Home home);
[[nodiscard]] Edit give_stretch(Home home);       // to the def and to all that reads it in its block
[[nodiscard]] Edit copy_to(Home home);            // behind the def
[[nodiscard]] Edit add_predicate(ir::Role role);  // another one, to what a pack instruction moves
enum class Extent { Whole, Unit, Half, Bit };
// A copy of something else over the register that the operand reads, one unit of it, the two bytes around its part, or the half of
// a pack's register that has a bit of the instruction; in front of the instruction or a little above.
[[nodiscard]] Edit overwrite(Extent extent, bool close);
bool swap_operands(Trial& t, const Place& at);

// --- instructions ---------------------------------------------------------------------------------------------------
bool drop(Trial& t, const Place& at);
bool drop_operand(Trial& t, const Place& at);  // or the instruction, where it moves nothing else
bool delete_original(Trial& t, const Place& at);
// Behind the next instruction of the block, or in front of the last one, at which the instruction has to stop.
using Stop = bool (*)(const EditInst& other, const EditInst& mine);
[[nodiscard]] Edit down_to(Stop stop);
[[nodiscard]] Edit up_to(Stop stop);
bool to_other(Trial& t, const Place& at);  // to the position place.other
bool again_behind_writer(Trial& t, const Place& at);
[[nodiscard]] Edit repeat(bool as_inserted);
bool to_other_block(Trial& t, const Place& at);
bool repeat_carelessly(Trial& t, const Place& at);  // a remat of the def in front of a later reader of its block
bool repeat_another(Trial& t, const Place& at);     // a remat of another instruction without sources, correct in itself
bool claim_another(Trial& t, const Place& at);      // the remat has the number of another instruction
// A change(trial, instruction or operand) that returns nothing can always be made.
template <class Change, class What>
bool make(const Change& change, Trial& t, What& what) {
  if constexpr (std::is_void_v<decltype(change(t, what))>) {
    change(t, what);
    return true;
  } else {
    return change(t, what);
  }
}
template <class Change>
[[nodiscard]] Edit on_inst(Change change) {
  return [=](Trial& t, const Place& at) { return make(change, t, t.inst(at)); };
}
template <class Change>
[[nodiscard]] Edit on_operand(Change change) {
  return [=](Trial& t, const Place& at) { return make(change, t, t.op(at)); };
}

// --- copies and edges -----------------------------------------------------------------------------------------------
bool reverse_copy(Trial& t, const Place& at);
bool do_pair_first(Trial& t, const Place& at);  // the pair at place.operand, the others behind it
bool empty_edge(Trial& t, const Place& at);
bool do_on_all_edges(Trial& t, const Place& at);
// Joins with a deleted phi: block; `operand` = the register, packed, that a predecessor writes at its end, `other` = which one.
[[nodiscard]] std::vector<Place> joins(const Site& s);
bool drop_phi_copies(Trial& t, const Place& at);
bool swap_phi_sides(Trial& t, const Place& at);
bool keep_phi(Trial& t, const Place& at);

// --- memory ---------------------------------------------------------------------------------------------------------
using SlotTest = bool (*)(const ir::Slot& mine, const ir::Slot& other);
[[nodiscard]] Edit use_slot(SlotTest of);
bool swap_slots(Trial& t, const Place& at);           // of the instruction and place.other
bool swap_slots_anywhere(Trial& t, const Place& at);  // with any refill of another slot of this size
bool store_half(Trial& t, const Place& at);
bool add_guard(Trial& t, const Place& at);
bool merge_slots(Trial& t, const Place& at);
bool overlap_in_slot(Trial& t, const Place& at);
bool overlap_in_frame(Trial& t, const Place& at);

}  // namespace regduel::trial
