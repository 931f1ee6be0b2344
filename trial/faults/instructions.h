// Instructions of a program that is taken apart: the units that they touch, their places, and new ones. Shared by the edits and the
// patterns; tested through operators_test.cpp and patterns_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fuzz/edit/edit.h"

namespace regduel::trial {

using fuzz::EditBlock;
using fuzz::EditInst;
using fuzz::EditProgram;

// --- what they touch ------------------------------------------------------------------------------------------------

[[nodiscard]] inline bool has_guard(const EditInst& inst) { return ir::is_guarded(inst.ops); }
[[nodiscard]] bool mentions(const EditInst& inst, ir::PReg r);  // in any role
[[nodiscard]] bool writes(const EditInst& inst, ir::PReg r);    // also by a clobber, also under a guard
[[nodiscard]] bool reads(const EditInst& inst, ir::PReg r);     // also by the guard
[[nodiscard]] std::uint32_t bytes_of(const ir::Operand& reg);
[[nodiscard]] std::size_t pairs_of(const EditInst& copy);
[[nodiscard]] inline bool is_spill(const EditInst& i) { return i.inst.op == ir::Op::Spill && !i.inst.is_deleted(); }
[[nodiscard]] inline bool is_refill(const EditInst& i) { return i.inst.op == ir::Op::Refill && !i.inst.is_deleted(); }
// May the instruction of the program before be repeated by remats?
[[nodiscard]] bool is_repeatable(const ir::Function& before, const ir::Inst& inst);

// --- changes --------------------------------------------------------------------------------------------------------

// The register, slot or symbol of one for that of the other; offsets and fixed registers stay.
inline void swap_places(ir::Operand& a, ir::Operand& b) {
  const ir::Operand::Raw x = a.raw(), y = b.raw();
  a.set_raw({y.value, x.extra});
  b.set_raw({x.value, y.extra});
}
// The instruction at `from` goes to position `to`; those between move up or down by one.
void move_inst(std::vector<EditInst>& insts, std::size_t from, std::size_t to);
void mark_deleted(EditInst& inst);  // an original one
// In front of position `at`, under the next free number.
void insert_at(EditProgram& p, std::uint32_t block, std::size_t at, EditInst inst);
void number_inserted(EditProgram& p);  // gives each instruction without a number the next free one
// Room for a slot at the end of its frame.
ir::SlotId add_slot(EditProgram& p, ir::MemSpace space, std::uint32_t size);

// --- new instructions, without a number -----------------------------------------------------------------------------

[[nodiscard]] EditInst inserted(ir::Op op, std::vector<ir::Operand> ops);
[[nodiscard]] EditInst make_copy(ir::PReg to, ir::PReg from);
[[nodiscard]] EditInst make_swap(ir::PReg a, ir::PReg b);
[[nodiscard]] EditInst make_spill(const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset = 0);
[[nodiscard]] EditInst make_refill(const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset = 0);

// --- random choices -------------------------------------------------------------------------------------------------

// One element; nothing where there is none.
template <class T>
[[nodiscard]] std::optional<T> pick(const std::vector<T>& list, Random& random) {
  if (list.empty()) return std::nullopt;
  return list[random.below(static_cast<std::uint32_t>(list.size()))];
}

}  // namespace regduel::trial
