// Instructions of a program that is taken apart: what they touch, where they stand, how new ones are made. Shared by the edits and
// the patterns; tested through operators_test.cpp and patterns_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fuzz/edit/edit.h"

namespace regduel::trial {

// --- what they touch ------------------------------------------------------------------------------------------------

[[nodiscard]] inline bool has_guard(const fuzz::EditInst& inst) { return ir::is_guarded(inst.ops); }
[[nodiscard]] bool mentions(const fuzz::EditInst& inst, ir::PReg r);  // in any role
[[nodiscard]] bool writes(const fuzz::EditInst& inst, ir::PReg r);    // also by a clobber, also under a guard
[[nodiscard]] bool reads(const fuzz::EditInst& inst, ir::PReg r);     // also by the guard
[[nodiscard]] std::uint32_t bytes_of(const ir::Operand& reg);
[[nodiscard]] std::size_t pairs_of(const fuzz::EditInst& copy);
[[nodiscard]] inline bool is_spill(const fuzz::EditInst& i) { return i.inst.op == ir::Op::Spill && !i.inst.is_deleted(); }
[[nodiscard]] inline bool is_refill(const fuzz::EditInst& i) { return i.inst.op == ir::Op::Refill && !i.inst.is_deleted(); }
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
void move_inst(std::vector<fuzz::EditInst>& insts, std::size_t from, std::size_t to);
void mark_deleted(fuzz::EditInst& inst);  // an original one
// In front of position `at`, under the next free number.
void insert_at(fuzz::EditProgram& p, std::uint32_t block, std::size_t at, fuzz::EditInst inst);
void number_inserted(fuzz::EditProgram& p);  // gives each instruction without a number the next free one
// Room for a slot at the end of its frame.
ir::SlotId add_slot(fuzz::EditProgram& p, ir::MemSpace space, std::uint32_t size);

// --- new instructions, without a number -----------------------------------------------------------------------------

[[nodiscard]] fuzz::EditInst inserted(ir::Op op, std::vector<ir::Operand> ops);
[[nodiscard]] fuzz::EditInst make_copy(ir::PReg to, ir::PReg from);
[[nodiscard]] fuzz::EditInst make_swap(ir::PReg a, ir::PReg b);
[[nodiscard]] fuzz::EditInst make_spill(const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset = 0);
[[nodiscard]] fuzz::EditInst make_refill(const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset = 0);

// --- random choices -------------------------------------------------------------------------------------------------

// One element; nothing where there is none.
template <class T>
[[nodiscard]] std::optional<T> pick(const std::vector<T>& list, Random& random) {
  if (list.empty()) return std::nullopt;
  return list[random.below(static_cast<std::uint32_t>(list.size()))];
}
template <class T>
void shuffle(std::vector<T>& list, Random& random) {
  for (std::size_t k = list.size(); k > 1; --k) std::swap(list[k - 1], list[random.below(static_cast<std::uint32_t>(k))]);
}

}  // namespace regduel::trial
