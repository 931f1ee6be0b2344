// The table of the fault operators, and how one is injected. See operators.h.
#include "trial/faults/operators.h"

#include <algorithm>
#include <iterator>

#include "ir/check.h"

namespace regduel::trial {
namespace {

using ir::BlockId;
using ir::MemSpace;
using ir::Op;
using ir::Operand;
using ir::OperandKind;
using ir::PReg;
using ir::RegFile;
using ir::Role;
using ir::Slot;

// --- which operands -------------------------------------------------------------------------------------------------

template <Role kRole>
bool role(const Site&, const fuzz::EditInst& i, std::size_t k) {
  return i.ops[k].is_preg() && i.ops[k].role == kRole;
}
template <Role kRole>
bool free(const Site& s, const fuzz::EditInst& i, std::size_t k) {
  return role<kRole>(s, i, k) && s.is_free(i, k) && (kRole != Role::Def || !has_guard(i));
}
bool allocated(const Site& s, const fuzz::EditInst& i, std::size_t k) {
  const auto before = s.original_ops(i);
  return k < before.size() && before[k].is_vreg() && i.ops[k].is_preg() && !s.root_of(before[k]).is_architectural();
}
bool fixed(const Site& s, const fuzz::EditInst& i, std::size_t k) {
  return allocated(s, i, k) && s.subject.before.fixed_of(s.original_ops(i)[k]).is_valid();
}
bool tied(const Site& s, const fuzz::EditInst& i, std::size_t k) { return allocated(s, i, k) && s.original_ops(i)[k].is_tied(); }
bool guard_or_condition(const Site& s, const fuzz::EditInst& i, std::size_t k) {
  return i.ops[k].is_preg() && s.is_free(i, k) && i.ops[k].reads();
}
template <OperandKind kKind>
bool kind(const Site&, const fuzz::EditInst& i, std::size_t k) {
  return i.ops[k].kind == kKind;
}
bool part(const Site&, const fuzz::EditInst& i, std::size_t k) { return i.ops[k].is_preg() && !i.ops[k].part.is_whole(); }
bool tuple(const Site&, const fuzz::EditInst& i, std::size_t k) { return i.ops[k].is_preg() && i.ops[k].preg().count > 1; }
bool packed(const Site&, const fuzz::EditInst& i, std::size_t k) {  // a predicate that a pack instruction moves
  return i.ops[k].is_preg() && ir::is_predicate(i.ops[k].preg().file) && i.ops[k].role != Role::Guard;
}
bool pack(const Site& s, const fuzz::EditInst& i, std::size_t k) {
  return i.ops[k].is_preg() && !packed(s, i, k) && i.ops[k].role != Role::Guard;
}

// A detour of a program in which nothing is uniform.
bool through_uniform(Trial& t, const Place& at) {
  const auto is_uniform = [](const ir::VReg& v) { return ir::is_uniform(v.file()) || (v.flags & ir::kVRegUniform) != 0; };
  const PReg home = t.op(at).preg(), shared{ir::RegFile::UR, 1, 0};
  const ir::Function& before = t.site.subject.before;
  if (home.file != ir::RegFile::R || home.count != 1 || t.inst(at).inst.is_phi() || t.site.subject.limits.of(shared.file) < 1 ||
      t.site.subject.target.is_reserved(shared.file, shared.first) ||
      std::any_of(before.vregs.begin(), before.vregs.end(), is_uniform))
    return false;
  const auto move = [](PReg to, PReg from) {
    return inserted(Op::Copy, {Operand::of_preg(Role::Def, to), Operand::of_preg(Role::Use, from)});
  };
  insert_at(t.program, at.block, at.inst + 1, move(home, shared));
  insert_at(t.program, at.block, at.inst + 1, move(shared, home));
  return true;
}

template <Role kRole>
bool alike(const Site& s, const fuzz::EditInst& i, std::size_t x, std::size_t y) {
  const PReg a = i.ops[x].preg(), b = i.ops[y].preg();
  return x < y && free<kRole>(s, i, x) && free<kRole>(s, i, y) && a.file == b.file && a.count == b.count && a != b;
}
// The def x may be given the register of y.
bool same_shape(const fuzz::EditInst& i, std::size_t x, std::size_t y) {
  const PReg a = i.ops[x].preg(), b = i.ops[y].preg();
  return i.ops[x].writes() && a.file == b.file && a.count == b.count && a != b && i.ops[x].part == i.ops[y].part;
}

// --- which instructions ---------------------------------------------------------------------------------------------

constexpr auto kInsertedCopy = is_inserted<Op::Copy>;
constexpr auto kSpill = is_inserted<Op::Spill>;
constexpr auto kRefill = is_inserted<Op::Refill>;
constexpr auto kAnyRefill = is<Op::Refill>;
constexpr auto kAnyAccess = is<Op::Spill, Op::Refill>;

bool any(const Site&, const fuzz::EditInst& i) { return !i.inst.is_deleted(); }
bool terminator(const Site& s, const fuzz::EditInst& i) { return is_operation(s, i) && i.inst.is_terminator(); }
bool inner(const Site& s, const fuzz::EditInst& i) { return is_operation(s, i) && !i.inst.is_terminator(); }
bool unchanged_inner(const Site& s, const fuzz::EditInst& i) { return is_unchanged(s, i) && !i.inst.is_terminator(); }
bool unchanged_move(const Site& s, const fuzz::EditInst& i) { return unchanged_inner(s, i) && !i.inst.is_phi(); }
bool original_copy(const Site& s, const fuzz::EditInst& i) { return s.original(i) != nullptr && i.inst.is_copy(); }
bool repeatable(const Site& s, const fuzz::EditInst& i) {
  return inner(s, i) && !i.ops.empty() && is_repeatable(s.subject.before, *s.original(i)) && i.inst.has(ir::kRematerialisable);
}
bool may_not_go(const Site& s, const fuzz::EditInst& i) { return inner(s, i) && !i.inst.has(ir::kRematerialisable); }
// One plain def, and uses that a remat could have.
bool like_a_remat(const Site& s, const fuzz::EditInst& i) {
  return inner(s, i) && i.inst.op == Op::Named && !i.ops.empty() && free<Role::Def>(s, i, 0) && i.ops[0].part.is_whole() &&
         std::all_of(i.ops.begin() + 1, i.ops.end(), [](const Operand& op) { return op.role == Role::Use; });
}
bool with_sources(const Site& s, const fuzz::EditInst& i) {
  return repeatable(s, i) && like_a_remat(s, i) &&
         std::any_of(i.ops.begin() + 1, i.ops.end(), [](const Operand& op) { return op.is_preg(); });
}
bool unrepeatable(const Site& s, const fuzz::EditInst& i) {
  return like_a_remat(s, i) && !is_repeatable(s.subject.before, *s.original(i)) && !i.inst.has(ir::kMemWrite);
}
bool shared_refill(const Site& s, const fuzz::EditInst& i) {
  return kRefill(s, i) && s.program.header.slots[i.ops[1].slot().index()].space == MemSpace::Shared;
}
bool guarded_store(const Site& s, const fuzz::EditInst& i) { return s.original(i) != nullptr && is_spill(i) && has_guard(i); }
bool save(const Site& s, const fuzz::EditInst& i) { return kSpill(s, i) && s.is_preserved(i.ops[0].preg()); }
bool restore(const Site& s, const fuzz::EditInst& i) { return kRefill(s, i) && s.is_preserved(i.ops[0].preg()); }
bool deleted_phi(const Site&, const fuzz::EditInst& i) { return i.inst.is_phi() && i.inst.is_deleted(); }
bool edge_branch(const Site&, const fuzz::EditInst& i) { return i.inst.is_inserted() && i.inst.op == Op::Bra; }
bool branch_with_a_choice(const Site& s, const fuzz::EditInst& i) {
  if (!terminator(s, i)) return false;
  // Two targets that were one block may stand in either order: one of them leads there through an edge block.
  const auto before = s.subject.before.targets_of(*s.original(i));
  return before.size() > 1 && i.targets.size() == before.size() && before[0] != before[1];
}

// --- pairs of instructions ------------------------------------------------------------------------------------------

bool overwrites_source(const Site& s, const fuzz::EditInst& a, const fuzz::EditInst& b) {
  if (!kInsertedCopy(s, b)) return false;
  for (std::size_t n = pairs_of(a), x = 0; x < n; ++x)
    if (writes(b, a.ops[n + x].preg())) return true;
  return false;
}
bool other_piece(const Site& s, const fuzz::EditInst& a, const fuzz::EditInst& b) {
  return kRefill(s, b) && !has_guard(a) && !has_guard(b) && a.ops[1].slot() == b.ops[1].slot() &&
         a.ops[1].slot_offset() != b.ops[1].slot_offset() && bytes_of(a.ops[0]) == bytes_of(b.ops[0]);
}
bool copy_alike(const Site& s, const fuzz::EditInst& a, const fuzz::EditInst& b) {
  return is<Op::Copy>(s, b) && pairs_of(a) == 1 && pairs_of(b) == 1 && a.ops[1].preg().file == b.ops[1].preg().file &&
         a.ops[1].preg().count == b.ops[1].preg().count && a.ops[1].part == b.ops[1].part && a.ops[1].preg() != b.ops[1].preg();
}
template <Op kBy>
bool pack_access(const Site& s, const fuzz::EditInst& a, const fuzz::EditInst& b) {
  return is<kBy>(s, b) && mentions(b, a.ops[0].preg());
}
bool spill_of_pack(const Site& s, const fuzz::EditInst& a, const fuzz::EditInst& b) {
  return kSpill(s, b) && !ir::is_predicate(b.ops[0].preg().file) && mentions(a, b.ops[0].preg());
}
bool operation_too(const Site& s, const fuzz::EditInst&, const fuzz::EditInst& b) { return inner(s, b); }
bool same_place_stored(const Site& s, const fuzz::EditInst& a, const fuzz::EditInst& b) {
  return guarded_store(s, b) && a.ops[1] == b.ops[1];
}

// --- where an instruction that moves has to stop ----------------------------------------------------------------------

template <std::size_t kOperand>
bool touches(const fuzz::EditInst& other, const fuzz::EditInst& mine) {
  return mentions(other, mine.ops[kOperand].preg());
}
template <std::size_t kOperand>
bool looks_at(const fuzz::EditInst& other, const fuzz::EditInst& mine) {
  return reads(other, mine.ops[kOperand].preg());
}
template <std::size_t kOperand>
bool overwrites(const fuzz::EditInst& other, const fuzz::EditInst& mine) {
  return writes(other, mine.ops[kOperand].preg());
}
bool stores(const fuzz::EditInst& other, const fuzz::EditInst& mine) {
  return is_spill(other) && other.ops[1].slot() == mine.ops[1].slot();
}

// Those whose first register nothing mentions behind them in their block.
Selector at_the_end(InstTest test) {
  return [=](const Site& s) {
    std::vector<Place> places = insts(test)(s);
    std::erase_if(places, [&](const Place& at) {
      const auto& all = s.program.blocks[at.block].insts;
      return std::any_of(all.begin() + at.inst + 1, all.end(),
                         [&](const fuzz::EditInst& i) { return mentions(i, all[at.inst].ops[0].preg()); });
    });
    return places;
  };
}

// --- small edits ----------------------------------------------------------------------------------------------------

Edit swap_with_other_source() {
  return [](Trial& t, const Place& at) {
    swap_places(t.inst(at).ops[1], t.insts(at)[at.other].ops[1]);
    return true;
  };
}
// The spill at place.other comes up in front of the instruction.
bool other_comes_first(Trial& t, const Place& at) {
  move_inst(t.insts(at), at.other, at.inst);
  return true;
}
Edit other_opcode(bool mnemonic_alone) {
  return [=](Trial& t, const Place& at) {
    t.inst(at).inst.mnemonic = t.program.header.symbols.intern("something");
    if (!mnemonic_alone) t.inst(at).inst.op = Op::Named;
    return true;
  };
}
bool other_space(const Slot& mine, const Slot& other) { return mine.space != other.space; }
bool same_space(const Slot& mine, const Slot& other) { return mine.space == other.space; }

// In both cases the slot must show where it comes to lie.
bool to_local(Trial& t, const Place& at) {
  Slot& slot = t.program.header.slots[at.operand];
  const bool is_shared = slot.space == MemSpace::Shared;
  bool shows = slot.offset + slot.size > t.program.header.local_frame;
  for (const Slot& o : t.program.header.slots)
    shows = shows || (o.space == MemSpace::Local && o.offset < slot.offset + slot.size && slot.offset < o.offset + o.size);
  slot.space = MemSpace::Local;
  return is_shared && shows;
}
bool out_of_frame(Trial& t, const Place& at) {
  Slot& slot = t.program.header.slots[at.operand];
  const std::uint32_t frame = slot.space == MemSpace::Local ? t.program.header.local_frame : t.program.header.shared_frame;
  slot.offset = (frame + slot.align - 1) / slot.align * slot.align;
  return true;
}
bool shrink_slot(Trial& t, const Place& at) {
  const auto& ops = t.inst(at).ops;
  const std::uint32_t end = ops[1].slot_offset() + bytes_of(ops[0]);
  t.program.header.slots[ops[1].slot().index()].size = end > 4 ? end - 4 : end - 1;
  return end > 1;
}
bool shorten_clobber(Trial& t, const Place& at) {
  PReg r = t.op(at).preg();
  if (r.count == 1) {
    t.inst(at).ops.erase(t.inst(at).ops.begin() + static_cast<std::ptrdiff_t>(at.operand));
  } else {
    --r.count;
    t.op(at).set_preg(r);
  }
  return true;
}
bool drop_guard(Trial&, fuzz::EditInst& i) {
  return std::erase_if(i.ops, [](const Operand& op) { return op.role == Role::Guard; }) > 0;
}
bool lead_elsewhere(Trial& t, const Place& at) {
  const BlockId to(t.random.below(static_cast<std::uint32_t>(t.site.subject.before.blocks.size())));
  if (to == t.program.blocks[at.block].attributes.edge_to) return false;
  t.inst(at).targets[0] = to;
  return true;
}
bool other_alignment(Trial& t, const Place&) {
  std::vector<ir::VReg*> vregs;
  for (ir::VReg& v : t.program.header.vregs)
    if (!ir::is_predicate(v.file()) && !ir::is_barrier(v.file()) && !v.fixed.is_valid()) vregs.push_back(&v);
  const auto v = pick(vregs, t.random);
  if (v) (*v)->align_log2 ^= 1;
  return v.has_value();
}
// The immediate of another bit instruction of the program, or any other.
Edit other_bit(bool used) {
  return [=](Trial& t, const Place& at) {
    std::vector<std::int64_t> bits;
    for (const fuzz::EditBlock& b : t.program.blocks)
      for (const fuzz::EditInst& i : b.insts)
        if (i.inst.op == Op::BitSpill && mentions(i, t.inst(at).ops[0].preg())) bits.push_back(i.ops[2].imm());
    if (!used) bits = {(t.inst(at).ops[2].imm() + t.random.between(1, 31)) % 32};
    std::erase(bits, t.inst(at).ops[2].imm());
    const auto bit = pick(bits, t.random);
    if (bit) t.inst(at).ops[2] = Operand::of_imm(*bit);
    return bit.has_value();
  };
}

struct Table {
  std::vector<FaultOperator> rows;

  using Codes = std::vector<int>;
  using Categories = std::vector<std::string_view>;
  void both(std::string_view name, std::string_view what, Codes codes, Categories categories, Selector where, Edit edit) {
    rows.push_back({name, what, std::move(codes), std::move(categories), std::move(where), std::move(edit)});
  }
  void value(std::string_view name, std::string_view what, Codes codes, Selector where, Edit edit) {
    both(name, what, std::move(codes), {}, std::move(where), std::move(edit));
  }
  void rule(std::string_view name, std::string_view what, Categories categories, Selector where, Edit edit) {
    both(name, what, {}, std::move(categories), std::move(where), std::move(edit));
  }
};

std::vector<FaultOperator> table() {
  const Home in_use = another(true), anywhere = another(false);
  const Edit flip_immediate = on_operand([](Trial&, Operand& op) {
    op.set_raw({op.raw().value ^ 1, op.raw().extra});
    return true;
  });
  const Selector free_uses = operands(inner, free<Role::Use>), free_defs = operands(inner, free<Role::Def>);
  const Selector homes = operands(is_unchanged, allocated);
  const auto reads = [](bool (*of)(const Operand&)) {
    return operands(is_operation, [=](const Site&, const fuzz::EditInst& i, std::size_t k) {
      return i.ops[k].is_preg() && i.ops[k].reads() && !ir::is_barrier(i.ops[k].preg().file) && of(i.ops[k]);
    });
  };
  Table table;
  // Registers.
  table.value("wrong-use-register", "a use reads a register that holds another value", {6}, free_uses, give(in_use));
  table.value("uninitialised-use", "a use reads a register that nothing has defined", {5}, free_uses, give(anywhere));
  table.value("wrong-def-register", "a def goes into another register, and a reader finds an older value", {6, 10}, free_defs,
              give(anywhere));
  table.value("lost-def", "a def goes into another register, and a reader finds nothing", {5}, free_defs, give(anywhere));
  table.value("wrong-condition", "a branch reads another register than its condition's", {5, 6},
              operands(terminator, guard_or_condition), give(in_use));
  table.value("wrong-guard", "an instruction is guarded by another predicate", {5, 6}, operands(is_operation, free<Role::Guard>),
              give(in_use));
  table.value("swapped-uses", "two uses of an instruction have exchanged their registers", {6},
              operand_pairs(is_operation, alike<Role::Use>), swap_operands);
  table.value("swapped-defs", "two defs of an instruction have exchanged their registers", {6},
              operand_pairs(is_operation, alike<Role::Def>), swap_operands);
  table.value("half-clobbered", "a copy overwrites one unit of a tuple that is still to be read", {5, 6},
              reads([](const Operand& op) { return op.part.is_whole() && op.preg().count > 1; }), overwrite(Extent::Unit, false));
  table.value("live-overwritten", "a copy overwrites a register that is still to be read", {5, 6},
              reads([](const Operand& op) { return op.part.is_whole() && op.preg().count == 1; }), overwrite(Extent::Whole, false));
  table.value("narrow-clobbered", "a copy of 16 bits overwrites a narrow value and its neighbour in one unit", {5, 6},
              reads([](const Operand& op) { return !op.part.is_whole() && op.part.size_bytes() < 4; }),
              overwrite(Extent::Half, false));
  table.value("shared-register", "a def and its readers move into a register in which another value lives: a missed interference",
              {5, 6}, free_defs, give_stretch(in_use));
  table.value(
      "across-clobber", "a value that lives across a call sits in a register that the call clobbers", {5},
      operands(any, [](const Site& s, const fuzz::EditInst& i,
                       std::size_t k) { return role<Role::Def>(s, i, k) && (i.inst.is_inserted() || free<Role::Def>(s, i, k)); }),
      give_stretch(in_clobbered_later()));
  table.value("deleted-def", "a rematerialisable def is deleted, though its register is still read", {5, 6}, insts(repeatable),
              delete_original);

  // Copies between registers, and edges: what replaces phis, ties and splits.
  table.value("dropped-copy", "an inserted copy is missing, and its reader finds another value", {6, 10}, insts(kInsertedCopy),
              drop);
  table.value("detour-dropped", "a value is never copied into the register that it is to be found in", {5}, insts(kInsertedCopy),
              drop);
  table.value("deleted-copy", "an original copy is deleted, though its def is not where its use is", {5, 6}, insts(original_copy),
              delete_original);
  table.value("reversed-copy", "an inserted copy goes from its def to its use", {5, 6}, insts(kInsertedCopy), reverse_copy);
  table.value("late-copy", "an inserted copy stands behind its reader", {5, 6}, insts(kInsertedCopy), down_to(touches<0>));
  table.value("sequential-copy", "the pairs of a parallel copy are done one after another, and overwrite what is still to be read",
              {6},
              operand_pairs(kInsertedCopy,
                            [](const Site&, const fuzz::EditInst& i, std::size_t x, std::size_t y) {
                              return i.ops[x].writes() && i.ops[y].role == Role::Use && y != pairs_of(i) + x &&
                                     i.ops[x].preg().overlaps(i.ops[y].preg());
                            }),
              do_pair_first);
  table.value("reordered-copies", "a copy stands behind the one that overwrites its source", {6},
              inst_pairs(kInsertedCopy, overwrites_source, 1), to_other);
  table.value("swapped-pair-sources", "two pairs of a parallel copy have exchanged their sources", {6},
              operand_pairs(is<Op::Copy>,
                            [](const Site&, const fuzz::EditInst& i, std::size_t x, std::size_t y) {
                              return x < y && i.ops[x].role == Role::Use && i.ops[y].role == Role::Use &&
                                     i.ops[x].preg().file == i.ops[y].preg().file &&
                                     i.ops[x].preg().count == i.ops[y].preg().count && i.ops[x].part == i.ops[y].part &&
                                     i.ops[x].preg() != i.ops[y].preg();
                            }),
              swap_operands);
  table.value("swapped-copy-sources", "two copies that stand together have exchanged their sources", {6},
              inst_pairs(is<Op::Copy>, copy_alike, 1), swap_with_other_source());
  table.value("emptied-edge-block", "what an edge block does is missing", {6, 10}, edge_blocks(true), empty_edge);
  table.value("copies-on-wrong-edge", "what belongs on one edge is done on all edges of its block", {6}, edge_blocks(true),
              do_on_all_edges);
  table.value("phi-without-copies", "a deleted phi's copies are missing on all edges", {5, 6}, joins(), drop_phi_copies);
  table.value("swapped-phi-sides", "two edges into a deleted phi have exchanged what they copy", {5, 6}, joins(), swap_phi_sides);

  // Spill code and slots.
  table.value("dropped-refill", "a refill is missing, and its reader finds an older value", {6}, insts(kRefill), drop);
  table.value("dropped-refill-uninitialised", "a refill is missing, and its reader finds nothing", {5}, insts(kRefill), drop);
  table.value("dropped-refill-one-path", "a refill for a reader behind a join is missing on one path", {6, 10}, at_the_end(kRefill),
              drop);
  table.value("refill-wrong-slot", "a refill reads another slot", {1}, insts(kAnyRefill), use_slot(same_space));
  table.value("refill-from-other-space", "a refill of a shared slot reads a local one, or the other way round", {1, 2},
              insts(kAnyRefill), use_slot(other_space));
  table.value("shared-slots-confused", "a refill reads another shared slot", {1, 2}, insts(shared_refill), use_slot(same_space));
  table.value("hoisted-refill", "a refill stands above the spill store that it needs", {1, 2}, insts(kRefill), up_to(stores));
  table.value("late-refill", "a refill stands behind its reader", {5, 6}, insts(kRefill), down_to(touches<0>));
  table.value("duplicated-refill", "a refill is done again, over the value that its register holds by then", {1}, insts(kAnyRefill),
              again_behind_writer);
  table.value("dropped-spill", "a spill store is missing on all paths to a refill", {1}, insts(kSpill), drop);
  table.value("dropped-spill-one-path", "a spill store is missing on one path to a refill", {2}, insts(kSpill), drop);
  table.value("dropped-spill-of-two", "a spill store is missing where the slot holds another def of the same value", {10},
              insts(kSpill), drop);
  table.value("half-not-stored", "one piece of a value is not stored", {1}, insts([](const Site& s, const fuzz::EditInst& i) {
                return kSpill(s, i) && bytes_of(i.ops[0]) < s.program.header.slots[i.ops[1].slot().index()].size;
              }),
              drop);
  table.value("early-spill", "a spill store stands before the def that it should store", {1, 2}, insts(kSpill),
              up_to(overwrites<0>));
  table.value("previous-visit-spill",
              "the same, for the execution judge to see: in a loop the refill may get the right definition, of the visit before",
              {}, insts(kSpill), up_to(overwrites<0>));
  table.value("late-spill", "a spill store stands behind the next def of its register", {1, 2}, insts(kSpill),
              down_to(overwrites<0>));
  table.value("half-spill", "half of a tuple is stored, the whole is refilled", {1, 2}, insts(kSpill), store_half);
  table.value("guarded-spill", "a spill store has a guard that its def has not", {2}, insts(kSpill), add_guard);
  table.value("swapped-slots", "two refills have exchanged their slots", {1}, insts(kAnyRefill), swap_slots_anywhere);
  table.value("halves-swapped", "two pieces of a spilled value change places on their way back", {1},
              inst_pairs(kRefill, other_piece, 4), swap_slots);
  table.value("reused-slot", "a slot is given to a second value while the first is still needed", {1, 2}, slot_pairs(),
              merge_slots);
  table.value("overlapping-offsets", "a value of two units reaches into its neighbour's place in the slot", {1, 2}, slot_pairs(),
              overlap_in_slot);
  table.rule("overlapping-slots", "two slots overlap in the frame", {"slot-overlap"}, slot_pairs(), overlap_in_frame);
  table.both("slot-loses-space", "a shared slot is taken for a local one at the same offset", {1, 2},
             {"slot-overlap", "slot-outside-frame"}, slots(), to_local);
  table.rule("slot-outside-frame", "a slot ends outside the frame", {"slot-outside-frame"}, slots(), out_of_frame);
  table.rule("slot-too-small", "a slot is smaller than what is stored there", {"slot-access"}, insts(kAnyAccess), shrink_slot);
  table.both("may-store-always", "the store of a guarded copy lost its guard", {10}, {"copy-to-memory"}, insts(guarded_store),
             on_inst(drop_guard));
  table.value("old-value-not-stored", "the old value is not stored in front of a guarded store", {2},
              inst_pairs(kSpill, same_place_stored, 1), drop);
  table.value("save-dropped", "a callee-saved register is restored but was not saved", {1}, insts(save), drop);
  table.value("restore-dropped", "a callee-saved register is not restored", {5, 6}, insts(restore), drop);
  table.value("restore-from-wrong-slot", "a callee-saved register is restored from another slot", {1}, insts(restore),
              use_slot(same_space));
  table.value("restore-early", "a callee-saved register is restored while it still holds a value", {1}, insts(restore),
              up_to(looks_at<0>));
  table.value("not-saved", "a callee-saved register is used without being saved", {6}, operands(inner, free<Role::Def>),
              copy_to(in_unsaved()));

  // Predicate packs: p2r and r2p, bit_spill and bit_refill.
  table.value("p2r-dropped", "a predicate is never put into its pack", {3}, operands(is<Op::P2R>, packed), drop_operand);
  table.value("bit-spill-dropped", "a predicate is never put into its bit", {4}, operands(is<Op::BitSpill>, packed), drop_operand);
  table.value("r2p-dropped", "a predicate is not taken back out of its pack", {5, 6}, operands(is<Op::R2P>, packed), drop_operand);
  table.value("bit-refill-dropped", "a predicate is not taken back out of its bit", {5, 6}, operands(is<Op::BitRefill>, packed),
              drop_operand);
  table.value("r2p-wrong-register", "r2p restores another predicate than was stored", {3}, operands(is<Op::R2P>, packed),
              give(in_use));
  table.value("r2p-one-too-many", "r2p also restores a predicate that was never stored, over a live one", {3},
              operands(is<Op::R2P>, packed), add_predicate(Role::Def));
  table.value("r2p-wrong-pack", "r2p reads another register than its pack", {3}, operands(is<Op::R2P>, pack), give(in_use));
  table.value("bit-refill-wrong-pack", "bit_refill reads another register than its pack", {4}, operands(is<Op::BitRefill>, pack),
              give(in_use));
  table.value("p2r-wrong-predicate", "p2r packs another predicate", {3}, operands(is<Op::P2R>, packed), give(in_use));
  table.value("bit-spill-wrong-predicate", "bit_spill stores another predicate", {4}, operands(is<Op::BitSpill>, packed),
              give(in_use));
  table.value("p2r-late", "p2r comes after its predicate was overwritten", {3}, insts(is<Op::P2R>), down_to(overwrites<1>));
  table.value("bit-spill-late", "bit_spill comes after its predicate was overwritten", {4}, insts(is<Op::BitSpill>),
              down_to(overwrites<1>));
  table.value("bit-refill-wrong-bit", "bit_refill reads another bit", {4}, insts(is<Op::BitRefill>), other_bit(false));
  table.value("bit-spill-into-used-bit", "bit_spill takes a bit that belongs to another predicate", {4}, insts(is<Op::BitSpill>),
              other_bit(true));
  table.value("pack-overwritten-by-copy", "an inserted copy uses the register of a pack that is still needed", {8},
              operands(is<Op::R2P>, pack), overwrite(Extent::Whole, false));
  table.value("bits-overwritten-by-copy", "an inserted copy uses the register of a bit-spill that is still needed", {9},
              operands(is<Op::BitRefill>, pack), overwrite(Extent::Whole, false));
  table.value("pack-half-overwritten", "an inserted copy writes the half of a pack in which a bit is still needed", {8},
              operands(is<Op::R2P>, pack), overwrite(Extent::Bit, false));
  table.value("bits-half-overwritten", "an inserted copy writes the half of a base in which a bit is still needed", {9},
              operands(is<Op::BitRefill>, pack), overwrite(Extent::Bit, false));
  table.value("pack-overwritten-by-def", "an original def is given the register of a pack that is still needed", {8}, free_defs,
              give(in_pack_read_later(Op::R2P)));
  table.value("bits-overwritten-by-def", "an original def is given the register of a bit-spill that is still needed", {9},
              free_defs, give(in_pack_read_later(Op::BitRefill)));
  table.value("pack-from-wrong-slot", "a spilled pack is refilled from another slot", {3},
              inst_pairs(kRefill, pack_access<Op::R2P>, 3), use_slot(same_space));
  table.value("bits-from-wrong-slot", "a spilled base of bit-spills is refilled from another slot", {4},
              inst_pairs(kRefill, pack_access<Op::BitRefill>, 3), use_slot(same_space));
  table.value("stale-pack", "a pack is spilled before p2r has put the predicate into it", {3},
              inst_pairs(is<Op::P2R>, spill_of_pack, 3), other_comes_first);
  table.value("stale-bits", "a base is spilled before bit_spill has put the predicate into it", {4},
              inst_pairs(is<Op::BitSpill>, spill_of_pack, 3), other_comes_first);

  // Remats.
  table.value("remat-wrong-instruction", "another instruction is repeated, correctly in itself", {6}, insts(is<Op::Remat>),
              repeat_another);
  table.both("remat-wrong-number", "a remat claims to repeat another instruction than its operands are of", {7},
             {"remat-shape", "immediate"}, insts(is<Op::Remat>), claim_another);
  table.both("remat-wrong-immediate", "a remat has another immediate than what it repeats", {7}, {"immediate"},
             operands(is<Op::Remat>, kind<OperandKind::Imm>), flip_immediate);
  table.value("remat-wrong-source", "a remat reads another register than its source's", {7},
              operands(is<Op::Remat>, role<Role::Use>), give(in_use));
  table.value("remat-source-overwritten", "a source is overwritten in front of a remat", {7},
              operands(is<Op::Remat>, role<Role::Use>), overwrite(Extent::Whole, true));
  table.value("remat-late", "a remat comes after a source's register was overwritten", {7}, insts(with_sources), repeat_carelessly);
  table.both("remat-of-unrepeatable", "a remat of an instruction that may not be repeated", {7}, {"remat-target"},
             insts(unrepeatable), repeat_carelessly);

  // Rules that can be seen without following a value: where an operand stands.
  table.rule("wrong-file", "an operand stands in a register of another file", {"register-file"}, homes, give(in_other_file()));
  table.rule("above-limit", "an operand stands in a register above the limit", {"register-limit"}, homes,
             give(from_unit([](const Site& s, PReg home) { return s.subject.limits.of(home.file); })));
  table.rule("outside-file", "an operand stands in a register that the file does not have", {"register-limit"}, homes,
             give(from_unit([](const Site& s, PReg home) { return s.subject.target.units[ir::index(home.file)]; })));
  table.rule("reserved-register", "an operand stands in a reserved register", {"reserved-register"}, homes, give(in_reserved()));
  table.rule("misaligned-tuple", "a tuple begins at an odd register", {"register-alignment"}, homes, give(off_alignment()));
  table.rule(
      "odd-tuple-in-memory", "a spill or a refill has a tuple that begins at an odd register", {"register-alignment"},
      operands(is_inserted<Op::Spill, Op::Refill>, tuple), on_operand([](Trial& t, Operand& op) {
        PReg r = op.preg();
        const auto& vregs = t.site.subject.before.vregs;
        if (std::any_of(vregs.begin(), vregs.end(), [&](const ir::VReg& v) { return v.units() == r.count && v.alignment() == 1; }))
          return false;
        r.first = static_cast<std::uint16_t>(r.first > 0 ? r.first - 1 : 1);
        op.set_preg(r);
        return true;
      }));
  table.rule("value-through-uniform", "a value of each thread goes through a register that all threads of a warp share",
             {"uniform-register"}, operands(is_unchanged, free<Role::Def>), through_uniform);
  table.rule("vreg-left-over", "an operand has got no register", {"unallocated-operand"}, homes, [](Trial& t, const Place& at) {
    t.op(at) = t.site.original_ops(t.inst(at))[at.operand];
    return true;
  });
  table.rule("wrong-tuple-size", "a tuple has a unit too many or too few", {"register-units"}, homes, give(of_other_size()));
  table.rule("not-in-fixed-register", "a fixed operand stands elsewhere", {"fixed-register"}, operands(is_unchanged, fixed),
             give(anywhere));
  table.rule("untied-operand", "a tied def does not stand in the register of its use", {"tied-operand"},
             operands(is_unchanged, tied), give(anywhere));
  table.rule("early-clobber-in-use", "an early-clobber def stands in the register of a use of the same instruction",
             {"early-clobber"},
             operand_pairs(is_operation,
                           [](const Site& s, const fuzz::EditInst& i, std::size_t x, std::size_t y) {
                             return same_shape(i, x, y) && i.ops[y].reads() && s.original_ops(i)[x].is_early_clobber();
                           }),
             give(with_other()));
  table.rule("two-defs-in-one", "two defs of one instruction stand in one register", {"def-overlap"},
             operand_pairs(is_operation, [](const Site&, const fuzz::EditInst& i, std::size_t x,
                                            std::size_t y) { return same_shape(i, x, y) && i.ops[y].writes(); }),
             give(with_other()));
  table.rule("phi-in-two-homes", "a phi was kept, though its operands are not in one register", {"phi-home"}, insts(deleted_phi),
             keep_phi);

  // What an instruction is.
  table.rule("other-part", "another part of the register: .lo for .hi", {"operand-part"}, operands(is_unchanged, part),
             on_operand([](Trial&, Operand& op) {
               op.part = ir::Part::of(op.part.size_log2(), op.part.element() ^ 1);
               return true;
             }));
  table.rule("flipped-guard", "a guard has lost its negation, or has become negated", {"negation"},
             operands(is_unchanged, role<Role::Guard>), on_operand([](Trial&, Operand& op) {
               op.flags ^= ir::kNegated;
               return true;
             }));
  table.rule("dropped-guard", "a guard is missing", {"operand-count"}, insts(is_unchanged), on_inst(drop_guard));
  table.rule("shorter-clobber", "the list of clobbers is shorter than it was", {"clobber", "operand-count"},
             operands(is_unchanged, role<Role::Clobber>), shorten_clobber);
  table.rule("other-immediate", "an immediate has changed", {"immediate"}, operands(is_unchanged, kind<OperandKind::Imm>),
             flip_immediate);
  table.rule("other-symbol", "a symbol has changed", {"symbol"}, operands(is_unchanged, kind<OperandKind::Symbol>),
             on_operand([](Trial& t, Operand& op) {
               op.set_symbol(t.program.header.symbols.intern("something"));
               return true;
             }));
  table.rule("register-for-immediate", "a register operand has become an immediate", {"operand-kind"}, free_uses,
             on_operand([](Trial&, Operand& op) {
               op = Operand::of_imm(7);
               return true;
             }));
  table.rule("other-role", "an operand that is read is written too", {"operand-role"}, operands(inner, role<Role::DefUse>),
             on_operand([](Trial&, Operand& op) {
               op.role = Role::Def;
               return true;
             }));
  table.rule(
      "other-operation", "an instruction has become another operation", {"opcode"},
      insts([](const Site& s, const fuzz::EditInst& i) { return is_unchanged(s, i) && is<Op::Const, Op::Pack, Op::Unpack>(s, i); }),
      other_opcode(false));
  table.rule("other-mnemonic", "a named operation has another name", {"mnemonic"},
             insts([](const Site& s, const fuzz::EditInst& i) { return is_unchanged(s, i) && is<Op::Named>(s, i); }),
             other_opcode(true));
  table.rule("other-flags", "the flags of an instruction have changed", {"flags"},
             insts([](const Site& s, const fuzz::EditInst& i) { return is_unchanged(s, i) && is<Op::Named>(s, i); }),
             on_inst([](Trial& t, fuzz::EditInst& i) {
               constexpr ir::InstFlags kFlags[] = {ir::kConvergent, ir::kCommutative, ir::kMemRead, ir::kBarrier};
               i.inst.flags ^= kFlags[t.random.below(std::size(kFlags))];
               return true;
             }));

  // Which instructions there are, and where.
  table.rule("missing-instruction", "an original instruction is missing", {"original-missing"}, insts(unchanged_inner), drop);
  table.rule("repeated-instruction", "an original instruction is there again under another number", {"original-unknown"},
             insts(inner), repeat(false));
  table.rule("invented-instruction", "an inserted instruction of a kind that no allocator inserts", {"inserted-kind"}, insts(inner),
             repeat(true));
  table.rule("original-called-inserted", "an original instruction is marked as an inserted one", {"inserted-id"}, insts(inner),
             on_inst([](Trial&, fuzz::EditInst& i) {
               i.inst.flags |= ir::kInserted;
               return true;
             }));
  table.rule("inserted-clobber", "an inserted copy clobbers a register", {"inserted-clobber"}, insts(kInsertedCopy),
             on_inst([](Trial& t, fuzz::EditInst& i) {
               const auto r = t.site.another_home(i.ops[0].preg(), false, t.random);
               if (r) i.ops.push_back(Operand::of_preg(Role::Clobber, *r));
               return r.has_value();
             }));
  table.rule("reordered-instructions", "an original instruction stands behind one that it preceded", {"original-order"},
             inst_pairs(inner, operation_too, 5), to_other);
  table.rule("instruction-in-other-block", "an original instruction stands in another block", {"original-moved"},
             insts(unchanged_move), to_other_block);
  table.rule("deleted-operation", "an operation is deleted that may not be", {"deleted"}, insts(may_not_go), delete_original);
  table.rule("other-targets", "a branch has exchanged its targets", {"targets"}, insts(branch_with_a_choice),
             on_inst([](Trial&, fuzz::EditInst& i) {
               std::swap(i.targets[0], i.targets[1]);
               return true;
             }));
  table.rule("edge-block-elsewhere", "an edge block leads to another block than its edge", {"edge-block-branch"},
             insts(edge_branch), lead_elsewhere);
  table.rule("edge-block-unmarked", "an edge block is not marked as one", {"block-added", "block-kind"}, edge_blocks(false),
             [](Trial& t, const Place& at) {
               t.program.blocks[at.block].attributes.edge_from = t.program.blocks[at.block].attributes.edge_to = BlockId();
               return true;
             });
  table.rule("other-declaration", "the declaration of a vreg has changed", {"vreg-declaration"}, everywhere(), other_alignment);
  table.rule("other-header", "the number of threads has changed", {"function-header"}, everywhere(), [](Trial& t, const Place&) {
    t.program.header.threads += 32;
    return true;
  });
  table.rule("nothing-allocated", "the result is the program before", {"phase"}, everywhere(), [](Trial& t, const Place&) {
    t.program = fuzz::EditProgram(t.site.subject.before);
    return true;
  });
  return table.rows;
}

// --- injection ------------------------------------------------------------------------------------------------------

bool same_inst(const fuzz::EditInst& a, const fuzz::EditInst& b) {
  return a.inst.id == b.inst.id && a.inst.op == b.inst.op && a.inst.flags == b.inst.flags && a.inst.mnemonic == b.inst.mnemonic &&
         a.inst.ref == b.inst.ref && a.ops == b.ops && a.targets == b.targets;
}
bool same_header(const ir::Function& a, const ir::Function& b) {
  return a.phase == b.phase && a.abi == b.abi && a.threads == b.threads && a.local_frame == b.local_frame &&
         a.shared_frame == b.shared_frame &&
         std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(),
                    [](const Slot& x, const Slot& y) {
                      return x.space == y.space && x.size == y.size && x.align == y.align && x.offset == y.offset;
                    }) &&
         std::equal(a.vregs.begin(), a.vregs.end(), b.vregs.begin(), b.vregs.end(),
                    [](const ir::VReg& x, const ir::VReg& y) { return x.align_log2 == y.align_log2; });
}
// The blocks that the edit has changed; all of them, where it has changed the frame.
std::vector<std::uint32_t> changed_blocks(const fuzz::EditProgram& was, const fuzz::EditProgram& is) {
  std::vector<std::uint32_t> changed;
  const bool all = !same_header(was.header, is.header) || was.blocks.size() != is.blocks.size();
  for (std::uint32_t b = 0; b < is.blocks.size(); ++b) {
    if (all ||
        !std::equal(was.blocks[b].insts.begin(), was.blocks[b].insts.end(), is.blocks[b].insts.begin(), is.blocks[b].insts.end(),
                    same_inst) ||
        was.blocks[b].attributes.edge_from != is.blocks[b].attributes.edge_from)
      changed.push_back(b);
  }
  return changed;
}

}  // namespace

std::span<const FaultOperator> fault_operators() {
  static const std::vector<FaultOperator> all = table();
  return all;
}

std::optional<Damaged> inject(const FaultOperator& op, const Site& site, Random& random) {
  constexpr int kTries = 16;
  std::uint32_t wanted = 0;
  for (const int code : op.memcheck) wanted |= 1u << code;
  std::vector<Place> places = op.where(site);
  std::optional<Damaged> second;
  int second_rank = -1;  // of another code 2, of nothing certain 1, of no code 0
  for (int tries = 0; tries < kTries && !places.empty(); ++tries) {
    std::swap(places[random.below(static_cast<std::uint32_t>(places.size()))], places.back());
    Trial trial{site.program, site, random};
    const bool made = op.edit(trial, places.back());
    places.pop_back();
    const auto changed = made ? changed_blocks(site.program, trial.program) : std::vector<std::uint32_t>();
    if (changed.empty()) continue;
    ir::Function damaged = trial.program.build();
    if (!ir::check(damaged, 1).empty()) continue;
    const int code = wanted == 0 ? 0 : site.expected.code_in(damaged, changed, wanted);
    if (wanted == 0 || (code > 0 && (wanted >> code & 1) != 0)) return Damaged{std::move(damaged), code};
    const int rank = code > 0 ? 2 : code < 0 ? 1 : 0;
    if (rank > second_rank) second = Damaged{std::move(damaged), std::max(code, 0)};
    second_rank = std::max(rank, second_rank);
  }
  return second;
}

}  // namespace regduel::trial
