// Conditions that the selectors of the operator table ask: of an instruction, of an operand, of a pair of either. A stop condition
// says at which other instruction one that moves has to stop. Tested through operators_test.cpp.
#pragma once

#include <algorithm>

#include "trial/faults/site.h"

namespace regduel::trial::conditions {

using ir::Op;
using ir::Operand;
using ir::OperandKind;
using ir::PReg;
using ir::Role;

// --- of an operand -------------------------------------------------------------------------------------------------

template <Role kRole>
bool role(const Site&, const EditInst& i, std::size_t k) {
  return i.ops[k].is_preg() && i.ops[k].role == kRole;
}
template <Role kRole>
bool free(const Site& s, const EditInst& i, std::size_t k) {
  return role<kRole>(s, i, k) && s.is_free(i, k) && (kRole != Role::Def || !has_guard(i));
}
inline bool allocated(const Site& s, const EditInst& i, std::size_t k) {
  const auto before = s.original_ops(i);
  return k < before.size() && before[k].is_vreg() && i.ops[k].is_preg() && !s.root_of(before[k]).is_architectural();
}
inline bool fixed(const Site& s, const EditInst& i, std::size_t k) {
  return allocated(s, i, k) && s.subject.before.fixed_of(s.original_ops(i)[k]).is_valid();
}
inline bool tied(const Site& s, const EditInst& i, std::size_t k) { return allocated(s, i, k) && s.original_ops(i)[k].is_tied(); }
inline bool guard_or_condition(const Site& s, const EditInst& i, std::size_t k) {
  return i.ops[k].is_preg() && s.is_free(i, k) && i.ops[k].reads();
}
template <OperandKind kKind>
bool kind(const Site&, const EditInst& i, std::size_t k) {
  return i.ops[k].kind == kKind;
}
inline bool part(const Site&, const EditInst& i, std::size_t k) { return i.ops[k].is_preg() && !i.ops[k].part.is_whole(); }
inline bool tuple(const Site&, const EditInst& i, std::size_t k) { return i.ops[k].is_preg() && i.ops[k].preg().count > 1; }
inline bool packed(const Site&, const EditInst& i, std::size_t k) {  // a predicate that p2r, r2p, bit_spill or bit_refill moves
  return i.ops[k].is_preg() && ir::is_predicate(i.ops[k].preg().file) && i.ops[k].role != Role::Guard;
}
inline bool pack(const Site& s, const EditInst& i, std::size_t k) {
  return i.ops[k].is_preg() && !packed(s, i, k) && i.ops[k].role != Role::Guard;
}

template <Role kRole>
bool alike(const Site& s, const EditInst& i, std::size_t x, std::size_t y) {
  const PReg a = i.ops[x].preg(), b = i.ops[y].preg();
  return x < y && free<kRole>(s, i, x) && free<kRole>(s, i, y) && a.file == b.file && a.count == b.count && a != b;
}
// Whether the def x may be given the register of y.
inline bool same_shape(const EditInst& i, std::size_t x, std::size_t y) {
  const PReg a = i.ops[x].preg(), b = i.ops[y].preg();
  return i.ops[x].writes() && a.file == b.file && a.count == b.count && a != b && i.ops[x].part == i.ops[y].part;
}

// --- which instructions ---------------------------------------------------------------------------------------------

inline constexpr auto kInsertedCopy = is_inserted<Op::Copy>;
inline constexpr auto kSpill = is_inserted<Op::Spill>;
inline constexpr auto kRefill = is_inserted<Op::Refill>;
inline constexpr auto kAnyRefill = is<Op::Refill>;
inline constexpr auto kAnyAccess = is<Op::Spill, Op::Refill>;

inline bool any(const Site&, const EditInst& i) { return !i.inst.is_deleted(); }
inline bool terminator(const Site& s, const EditInst& i) { return is_operation(s, i) && i.inst.is_terminator(); }
inline bool inner(const Site& s, const EditInst& i) { return is_operation(s, i) && !i.inst.is_terminator(); }
inline bool unchanged_inner(const Site& s, const EditInst& i) { return is_unchanged(s, i) && !i.inst.is_terminator(); }
inline bool unchanged_move(const Site& s, const EditInst& i) { return unchanged_inner(s, i) && !i.inst.is_phi(); }
inline bool original_copy(const Site& s, const EditInst& i) { return s.original(i) != nullptr && i.inst.is_copy(); }
inline bool repeatable(const Site& s, const EditInst& i) {
  return inner(s, i) && !i.ops.empty() && is_repeatable(s.subject.before, *s.original(i)) && i.inst.has(ir::kRematerialisable);
}
inline bool may_not_go(const Site& s, const EditInst& i) { return inner(s, i) && !i.inst.has(ir::kRematerialisable); }
// An operation with one plain def, and with uses that a remat could have.
inline bool like_a_remat(const Site& s, const EditInst& i) {
  return inner(s, i) && i.inst.op == Op::Named && !i.ops.empty() && free<Role::Def>(s, i, 0) && i.ops[0].part.is_whole() &&
         std::all_of(i.ops.begin() + 1, i.ops.end(), [](const Operand& op) { return op.role == Role::Use; });
}
inline bool with_sources(const Site& s, const EditInst& i) {
  return repeatable(s, i) && like_a_remat(s, i) &&
         std::any_of(i.ops.begin() + 1, i.ops.end(), [](const Operand& op) { return op.is_preg(); });
}
inline bool unrepeatable(const Site& s, const EditInst& i) {
  return like_a_remat(s, i) && !is_repeatable(s.subject.before, *s.original(i)) && !i.inst.has(ir::kMemWrite);
}
inline bool shared_refill(const Site& s, const EditInst& i) {
  return kRefill(s, i) && s.program.header.slots[i.ops[1].slot().index()].space == ir::MemSpace::Shared;
}
inline bool guarded_store(const Site& s, const EditInst& i) { return s.original(i) != nullptr && is_spill(i) && has_guard(i); }
inline bool save(const Site& s, const EditInst& i) { return kSpill(s, i) && s.is_preserved(i.ops[0].preg()); }
inline bool restore(const Site& s, const EditInst& i) { return kRefill(s, i) && s.is_preserved(i.ops[0].preg()); }
inline bool deleted_phi(const Site&, const EditInst& i) { return i.inst.is_phi() && i.inst.is_deleted(); }
inline bool edge_branch(const Site&, const EditInst& i) { return i.inst.is_inserted() && i.inst.op == Op::Bra; }
inline bool branch_with_a_choice(const Site& s, const EditInst& i) {
  if (!terminator(s, i)) return false;
  // Two targets that were one block may stand in either order, because one of them leads there through an edge block.
  const auto before = s.subject.before.targets_of(*s.original(i));
  return before.size() > 1 && i.targets.size() == before.size() && before[0] != before[1];
}

// --- pairs of instructions ------------------------------------------------------------------------------------------

inline bool overwrites_source(const Site& s, const EditInst& a, const EditInst& b) {
  if (!kInsertedCopy(s, b)) return false;
  for (std::size_t n = pairs_of(a), x = 0; x < n; ++x)
    if (writes(b, a.ops[n + x].preg())) return true;
  return false;
}
inline bool other_piece(const Site& s, const EditInst& a, const EditInst& b) {
  return kRefill(s, b) && !has_guard(a) && !has_guard(b) && a.ops[1].slot() == b.ops[1].slot() &&
         a.ops[1].slot_offset() != b.ops[1].slot_offset() && bytes_of(a.ops[0]) == bytes_of(b.ops[0]);
}
inline bool copy_alike(const Site& s, const EditInst& a, const EditInst& b) {
  return is<Op::Copy>(s, b) && pairs_of(a) == 1 && pairs_of(b) == 1 && a.ops[1].preg().file == b.ops[1].preg().file &&
         a.ops[1].preg().count == b.ops[1].preg().count && a.ops[1].part == b.ops[1].part && a.ops[1].preg() != b.ops[1].preg();
}
template <Op kBy>
bool pack_access(const Site& s, const EditInst& a, const EditInst& b) {
  return is<kBy>(s, b) && mentions(b, a.ops[0].preg());
}
inline bool spill_of_pack(const Site& s, const EditInst& a, const EditInst& b) {
  return kSpill(s, b) && !ir::is_predicate(b.ops[0].preg().file) && mentions(a, b.ops[0].preg());
}
inline bool operation_too(const Site& s, const EditInst&, const EditInst& b) { return inner(s, b); }
inline bool same_place_stored(const Site& s, const EditInst& a, const EditInst& b) {
  return guarded_store(s, b) && a.ops[1] == b.ops[1];
}

// --- where an instruction that moves has to stop ----------------------------------------------------------------------

template <std::size_t kOperand>
bool touches(const EditInst& other, const EditInst& mine) {
  return mentions(other, mine.ops[kOperand].preg());
}
template <std::size_t kOperand>
bool looks_at(const EditInst& other, const EditInst& mine) {
  return reads(other, mine.ops[kOperand].preg());
}
template <std::size_t kOperand>
bool overwrites(const EditInst& other, const EditInst& mine) {
  return writes(other, mine.ops[kOperand].preg());
}
inline bool stores(const EditInst& other, const EditInst& mine) {
  return is_spill(other) && other.ops[1].slot() == mine.ops[1].slot();
}

// Instructions of this kind whose first register no later instruction of their block mentions.
inline Selector at_the_end(InstTest test) {
  return [=](const Site& s) {
    std::vector<Place> places = insts(test)(s);
    std::erase_if(places, [&](const Place& at) {
      const auto& all = s.program.blocks[at.block].insts;
      return std::any_of(all.begin() + at.inst + 1, all.end(),
                         [&](const EditInst& i) { return mentions(i, all[at.inst].ops[0].preg()); });
    });
    return places;
  };
}

}  // namespace regduel::trial::conditions
