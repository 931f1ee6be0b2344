// The table of the fault operators: name, what is changed, codes of memcheck, categories of structure, where, how. See operators.h.
#include <algorithm>
#include <iterator>
#include <utility>

#include "trial/faults/conditions.h"
#include "trial/faults/operators.h"
#include "trial/faults/single_edits.h"
#include "trial/faults/uniform_edits.h"

namespace regduel::trial {
namespace {

using namespace conditions;
using ir::BlockId;
using ir::Slot;

bool other_space(const Slot& mine, const Slot& other) { return mine.space != other.space; }
bool same_space(const Slot& mine, const Slot& other) { return mine.space == other.space; }

FaultOperator both(std::string_view name, std::string_view what, std::vector<int> codes, std::vector<std::string_view> categories,
                   Selector where, Edit edit) {
  return {name, what, std::move(codes), std::move(categories), std::move(where), std::move(edit)};
}
// An operator that only memcheck has to name.
FaultOperator value(std::string_view name, std::string_view what, std::vector<int> codes, Selector where, Edit edit) {
  return both(name, what, std::move(codes), {}, std::move(where), std::move(edit));
}
// An operator that only structure has to name.
FaultOperator rule(std::string_view name, std::string_view what, std::vector<std::string_view> categories, Selector where,
                   Edit edit) {
  return both(name, what, {}, std::move(categories), std::move(where), std::move(edit));
}

std::vector<FaultOperator> make_table() {
  const Home in_use = another(true), anywhere = another(false);
  const Edit flip_immediate = on_operand([](Trial&, Operand& op) { op.set_raw({op.raw().value ^ 1, op.raw().extra}); });
  const Selector free_uses = operands(inner, free<Role::Use>), free_defs = operands(inner, free<Role::Def>);
  const Selector homes = operands(is_unchanged, allocated);
  const auto reads = [](bool (*of)(const Operand&)) {
    return operands(is_operation, [=](const Site&, const EditInst& i, std::size_t k) {
      return i.ops[k].is_preg() && i.ops[k].reads() && !ir::is_barrier(i.ops[k].preg().file) && of(i.ops[k]);
    });
  };
  return {
      // Registers.
      value("wrong-use-register", "a use reads a register that holds another value", {6}, free_uses, give(in_use)),
      value("uninitialised-use", "a use reads a register that nothing has defined", {5}, free_uses, give(anywhere)),
      value("wrong-def-register", "a def goes into another register, and a reader finds an older value", {6, 10}, free_defs,
            give(anywhere)),
      value("lost-def", "a def goes into another register, and a reader finds nothing", {5}, free_defs, give(anywhere)),
      value("wrong-condition", "a branch reads another register than its condition's", {5, 6},
            operands(terminator, guard_or_condition), give(in_use)),
      value("wrong-guard", "an instruction is guarded by another predicate", {5, 6}, operands(is_operation, free<Role::Guard>),
            give(in_use)),
      value("swapped-uses", "two uses of an instruction have exchanged their registers", {6},
            operand_pairs(is_operation, alike<Role::Use>), swap_operands),
      value("swapped-defs", "two defs of an instruction have exchanged their registers", {6},
            operand_pairs(is_operation, alike<Role::Def>), swap_operands),
      value("half-clobbered", "a copy overwrites one unit of a tuple that is still to be read", {5, 6},
            reads([](const Operand& op) { return op.part.is_whole() && op.preg().count > 1; }), overwrite(Extent::Unit, false)),
      value("live-overwritten", "a copy overwrites a register that is still to be read", {5, 6},
            reads([](const Operand& op) { return op.part.is_whole() && op.preg().count == 1; }), overwrite(Extent::Whole, false)),
      value("narrow-clobbered", "a copy of 16 bits overwrites a narrow value and its neighbour in one unit", {5, 6},
            reads([](const Operand& op) { return !op.part.is_whole() && op.part.size_bytes() < 4; }),
            overwrite(Extent::Half, false)),
      value("shared-register", "a def and its readers move into a register in which another value lives: a missed interference",
            {5, 6}, free_defs, give_stretch(in_use)),
      value("across-clobber", "a value that lives across a call sits in a register that the call clobbers", {5},
            operands(any,
                     [](const Site& s, const EditInst& i, std::size_t k) {
                       return role<Role::Def>(s, i, k) && (i.inst.is_inserted() || free<Role::Def>(s, i, k));
                     }),
            give_stretch(in_clobbered_later)),
      value("deleted-def", "a rematerialisable def is deleted, though its register is still read", {5, 6}, insts(repeatable),
            delete_original),

      // Copies between registers, and edges, which replace phis, ties and splits.
      value("dropped-copy", "an inserted copy is missing, and its reader finds another value", {6, 10}, insts(kInsertedCopy), drop),
      value("detour-dropped", "a value is never copied into the register that it is to be found in", {5}, insts(kInsertedCopy),
            drop),
      value("deleted-copy", "an original copy is deleted, though its def is not where its use is", {5, 6}, insts(original_copy),
            delete_original),
      value("reversed-copy", "an inserted copy goes from its def to its use", {5, 6}, insts(kInsertedCopy), reverse_copy),
      value("late-copy", "an inserted copy stands behind its reader", {5, 6}, insts(kInsertedCopy), down_to(touches<0>)),
      value("sequential-copy", "the pairs of a parallel copy are done one after another, and overwrite what is still to be read",
            {6},
            operand_pairs(kInsertedCopy,
                          [](const Site&, const EditInst& i, std::size_t x, std::size_t y) {
                            return i.ops[x].writes() && i.ops[y].role == Role::Use && y != pairs_of(i) + x &&
                                   i.ops[x].preg().overlaps(i.ops[y].preg());
                          }),
            do_pair_first),
      value("reordered-copies", "a copy stands behind the one that overwrites its source", {6},
            inst_pairs(kInsertedCopy, overwrites_source, 1), to_other),
      value("swapped-pair-sources", "two pairs of a parallel copy have exchanged their sources", {6},
            operand_pairs(is<Op::Copy>,
                          [](const Site&, const EditInst& i, std::size_t x, std::size_t y) {
                            return x < y && i.ops[x].role == Role::Use && i.ops[y].role == Role::Use &&
                                   i.ops[x].preg().file == i.ops[y].preg().file && i.ops[x].preg().count == i.ops[y].preg().count &&
                                   i.ops[x].part == i.ops[y].part && i.ops[x].preg() != i.ops[y].preg();
                          }),
            swap_operands),
      value("swapped-copy-sources", "two copies that stand together have exchanged their sources", {6},
            inst_pairs(is<Op::Copy>, copy_alike, 1), swap_with_other_source),
      value("emptied-edge-block", "what an edge block does is missing", {6, 10}, edge_blocks(true), empty_edge),
      value("copies-on-wrong-edge", "what belongs on one edge is done on all edges of its block", {6}, edge_blocks(true),
            do_on_all_edges),
      value("phi-without-copies", "a deleted phi's copies are missing on all edges", {5, 6}, joins, drop_phi_copies),
      value("swapped-phi-sides", "two edges into a deleted phi have exchanged what they copy", {5, 6}, joins, swap_phi_sides),

      // Spill code and slots.
      value("dropped-refill", "a refill is missing, and its reader finds an older value", {6}, insts(kRefill), drop),
      value("dropped-refill-uninitialised", "a refill is missing, and its reader finds nothing", {5}, insts(kRefill), drop),
      value("dropped-refill-one-path", "a refill for a reader behind a join is missing on one path", {6, 10}, at_the_end(kRefill),
            drop),
      value("refill-wrong-slot", "a refill reads another slot", {1}, insts(kAnyRefill), use_slot(same_space)),
      value("refill-from-other-space", "a refill of a shared slot reads a local one, or the other way round", {1, 2},
            insts(kAnyRefill), use_slot(other_space)),
      value("shared-slots-confused", "a refill reads another shared slot", {1, 2}, insts(shared_refill), use_slot(same_space)),
      value("hoisted-refill", "a refill stands above the spill store that it needs", {1, 2}, insts(kRefill), up_to(stores)),
      value("late-refill", "a refill stands behind its reader", {5, 6}, insts(kRefill), down_to(touches<0>)),
      value("duplicated-refill", "a refill is done again, over the value that its register holds by then", {1}, insts(kAnyRefill),
            again_behind_writer),
      value("dropped-spill", "a spill store is missing on all paths to a refill", {1}, insts(kSpill), drop),
      value("dropped-spill-one-path", "a spill store is missing on one path to a refill", {2}, insts(kSpill), drop),
      value("dropped-spill-of-two", "a spill store is missing where the slot holds another def of the same value", {10},
            insts(kSpill), drop),
      value("half-not-stored", "one piece of a value is not stored", {1}, insts([](const Site& s, const EditInst& i) {
              return kSpill(s, i) && bytes_of(i.ops[0]) < s.program.header.slots[i.ops[1].slot().index()].size;
            }),
            drop),
      value("early-spill", "a spill store stands before the def that it should store", {1, 2}, insts(kSpill), up_to(overwrites<0>)),
      value("previous-visit-spill",
            "the same, for the execution judge to see: in a loop the refill may get the right definition, of the visit before", {},
            insts(kSpill), up_to(overwrites<0>)),
      value("late-spill", "a spill store stands behind the next def of its register", {1, 2}, insts(kSpill),
            down_to(overwrites<0>)),
      value("half-spill", "half of a tuple is stored, the whole is refilled", {1, 2}, insts(kSpill), store_half),
      value("guarded-spill", "a spill store has a guard that its def has not", {2}, insts(kSpill), add_guard),
      value("swapped-slots", "two refills have exchanged their slots", {1}, insts(kAnyRefill), swap_slots_anywhere),
      value("halves-swapped", "two pieces of a spilled value change places on their way back", {1},
            inst_pairs(kRefill, other_piece, 4), swap_slots),
      value("reused-slot", "a slot is given to a second value while the first is still needed", {1, 2}, slot_pairs, merge_slots),
      value("overlapping-offsets", "a value of two units reaches into its neighbour's place in the slot", {1, 2}, slot_pairs,
            overlap_in_slot),
      rule("overlapping-slots", "two slots overlap in the frame", {"slot-overlap"}, slot_pairs, overlap_in_frame),
      both("slot-loses-space", "a shared slot is taken for a local one at the same offset", {1, 2},
           {"slot-overlap", "slot-outside-frame"}, slots, to_local),
      rule("slot-in-variables", "a slot begins in the program's own variables", {"local-variables"}, slots, into_variables),
      rule("slot-outside-frame", "a slot ends outside the frame", {"slot-outside-frame"}, slots, out_of_frame),
      rule("slot-too-small", "a slot is smaller than what is stored there", {"slot-access"}, insts(kAnyAccess), shrink_slot),
      both("may-store-always", "the store of a guarded copy lost its guard", {10}, {"copy-to-memory"}, insts(guarded_store),
           on_inst(drop_guard)),
      value("old-value-not-stored", "the old value is not stored in front of a guarded store", {2},
            inst_pairs(kSpill, same_place_stored, 1), drop),
      value("save-dropped", "a callee-saved register is restored but was not saved", {1}, insts(save), drop),
      value("restore-dropped", "a callee-saved register is not restored", {5, 6}, insts(restore), drop),
      value("restore-from-wrong-slot", "a callee-saved register is restored from another slot", {1}, insts(restore),
            use_slot(same_space)),
      value("restore-early", "a callee-saved register is restored while it still holds a value", {1}, insts(restore),
            up_to(looks_at<0>)),
      value("not-saved", "a callee-saved register is used without being saved", {6}, operands(inner, free<Role::Def>),
            copy_to(in_unsaved)),

      // Predicate packs: p2r and r2p, bit_spill and bit_refill.
      value("p2r-dropped", "a predicate is never put into its pack", {3}, operands(is<Op::P2R>, packed), drop_operand),
      value("bit-spill-dropped", "a predicate is never put into its bit", {4}, operands(is<Op::BitSpill>, packed), drop_operand),
      value("r2p-dropped", "a predicate is not taken back out of its pack", {5, 6}, operands(is<Op::R2P>, packed), drop_operand),
      value("bit-refill-dropped", "a predicate is not taken back out of its bit", {5, 6}, operands(is<Op::BitRefill>, packed),
            drop_operand),
      value("r2p-wrong-register", "r2p restores another predicate than was stored", {3}, operands(is<Op::R2P>, packed),
            give(in_use)),
      value("r2p-one-too-many", "r2p also restores a predicate that was never stored, over a live one", {3},
            operands(is<Op::R2P>, packed), add_predicate(Role::Def)),
      value("r2p-wrong-pack", "r2p reads another register than its pack", {3}, operands(is<Op::R2P>, pack), give(in_use)),
      value("bit-refill-wrong-pack", "bit_refill reads another register than its pack", {4}, operands(is<Op::BitRefill>, pack),
            give(in_use)),
      value("p2r-wrong-predicate", "p2r packs another predicate", {3}, operands(is<Op::P2R>, packed), give(in_use)),
      value("bit-spill-wrong-predicate", "bit_spill stores another predicate", {4}, operands(is<Op::BitSpill>, packed),
            give(in_use)),
      value("p2r-late", "p2r comes after its predicate was overwritten", {3}, insts(is<Op::P2R>), down_to(overwrites<1>)),
      value("bit-spill-late", "bit_spill comes after its predicate was overwritten", {4}, insts(is<Op::BitSpill>),
            down_to(overwrites<1>)),
      value("bit-refill-wrong-bit", "bit_refill reads another bit", {4}, insts(is<Op::BitRefill>), other_bit(false)),
      value("bit-spill-into-used-bit", "bit_spill takes a bit that belongs to another predicate", {4}, insts(is<Op::BitSpill>),
            other_bit(true)),
      value("pack-overwritten-by-copy", "an inserted copy uses the register of a pack that is still needed", {8},
            operands(is<Op::R2P>, pack), overwrite(Extent::Whole, false)),
      value("bits-overwritten-by-copy", "an inserted copy uses the register of a bit-spill that is still needed", {9},
            operands(is<Op::BitRefill>, pack), overwrite(Extent::Whole, false)),
      value("pack-half-overwritten", "an inserted copy writes the half of a pack in which a bit is still needed", {8},
            operands(is<Op::R2P>, pack), overwrite(Extent::Bit, false)),
      value("bits-half-overwritten", "an inserted copy writes the half of a base in which a bit is still needed", {9},
            operands(is<Op::BitRefill>, pack), overwrite(Extent::Bit, false)),
      value("pack-overwritten-by-def", "an original def is given the register of a pack that is still needed", {8}, free_defs,
            give(in_pack_read_later(Op::R2P))),
      value("bits-overwritten-by-def", "an original def is given the register of a bit-spill that is still needed", {9}, free_defs,
            give(in_pack_read_later(Op::BitRefill))),
      value("pack-from-wrong-slot", "a spilled pack is refilled from another slot", {3},
            inst_pairs(kRefill, pack_access<Op::R2P>, 3), use_slot(same_space)),
      value("bits-from-wrong-slot", "a spilled base of bit-spills is refilled from another slot", {4},
            inst_pairs(kRefill, pack_access<Op::BitRefill>, 3), use_slot(same_space)),
      value("stale-pack", "a pack is spilled before p2r has put the predicate into it", {3},
            inst_pairs(is<Op::P2R>, spill_of_pack, 3), other_comes_first),
      value("stale-bits", "a base is spilled before bit_spill has put the predicate into it", {4},
            inst_pairs(is<Op::BitSpill>, spill_of_pack, 3), other_comes_first),

      // Remats.
      value("remat-wrong-instruction", "another instruction is repeated, correctly in itself", {6}, insts(is<Op::Remat>),
            repeat_another),
      both("remat-wrong-number", "a remat claims to repeat another instruction than its operands are of", {7},
           {"remat-shape", "immediate"}, insts(is<Op::Remat>), claim_another),
      both("remat-wrong-immediate", "a remat has another immediate than what it repeats", {7}, {"immediate"},
           operands(is<Op::Remat>, kind<OperandKind::Imm>), flip_immediate),
      value("remat-wrong-source", "a remat reads another register than its source's", {7}, operands(is<Op::Remat>, role<Role::Use>),
            give(in_use)),
      value("remat-source-overwritten", "a source is overwritten in front of a remat", {7},
            operands(is<Op::Remat>, role<Role::Use>), overwrite(Extent::Whole, true)),
      value("remat-late", "a remat comes after a source's register was overwritten", {7}, insts(with_sources), repeat_carelessly),
      both("remat-of-unrepeatable", "a remat of an instruction that may not be repeated", {7}, {"remat-target"},
           insts(unrepeatable), repeat_carelessly),

      // The place of an operand: rules that can be seen without following a value.
      rule("wrong-file", "an operand stands in a register of another file", {"register-file"}, homes, give(in_other_file)),
      rule("above-limit", "an operand stands in a register above the limit", {"register-limit"}, homes,
           give(from_unit([](const Site& s, PReg home) { return s.subject.limits.of(home.file); }))),
      rule("outside-file", "an operand stands in a register that the file does not have", {"register-limit"}, homes,
           give(from_unit([](const Site& s, PReg home) { return s.subject.target.units[ir::index(home.file)]; }))),
      rule("reserved-register", "an operand stands in a reserved register", {"reserved-register"}, homes, give(in_reserved)),
      rule("misaligned-tuple", "a tuple begins at an odd register", {"register-alignment"}, homes, give(off_alignment)),
      rule("odd-tuple-in-memory", "a spill or a refill has a tuple that begins at an odd register", {"register-alignment"},
           operands(is_inserted<Op::Spill, Op::Refill>, tuple), on_operand([](Trial& t, Operand& op) {
             PReg r = op.preg();
             const auto& vregs = t.site.subject.before.vregs;
             if (std::any_of(vregs.begin(), vregs.end(),
                             [&](const ir::VReg& v) { return v.units() == r.count && v.alignment() == 1; }))
               return false;
             r.first = static_cast<std::uint16_t>(r.first > 0 ? r.first - 1 : 1);
             op.set_preg(r);
             return true;
           })),
      rule("value-through-uniform", "a value of each thread goes through a register that all threads of a warp share",
           {"uniform-register"}, operands(is_unchanged, role<Role::Def>), through_uniform(Way::Copy)),
      rule("value-through-uniform-by-slot", "the same, by way of a slot", {"uniform-register"},
           operands(is_unchanged, role<Role::Def>), through_uniform(Way::Slot)),
      rule("value-through-uniform-beside", "the same, in one copy with a value that they share", {"uniform-register"},
           operands(is_unchanged, role<Role::Def>), through_uniform(Way::Beside)),
      rule("value-through-uniform-by-half", "the same of one half of a pair", {"uniform-register"},
           operands(is_unchanged, role<Role::Def>), through_uniform(Way::Half)),
      rule("value-through-uniform-by-bit", "the same of a predicate, as a bit of a pack", {"uniform-register"},
           operands(is_unchanged, role<Role::Def>), through_uniform(Way::Bit)),
      rule("value-through-uniform-under-guard", "the same, and it comes back under a guard alone", {"uniform-register"},
           operands(is_unchanged, role<Role::Def>), through_uniform(Way::Guard)),
      rule("value-through-uniform-by-branch", "the same, and it comes back behind one way of a branch", {"uniform-register"},
           operands(is_unchanged, role<Role::Def>), through_uniform(Way::Branch)),
      rule("value-through-uniform-by-join", "the same, on all ways into a join", {"uniform-register"},
           operands(is_unchanged, role<Role::Def>), through_uniform(Way::Join)),
      rule("vreg-left-over", "an operand has got no register", {"unallocated-operand"}, homes,
           [](Trial& t, const Place& at) {
             t.op(at) = t.site.original_ops(t.inst(at))[at.operand];
             return true;
           }),
      rule("wrong-tuple-size", "a tuple has a unit too many or too few", {"register-units"}, homes, give(of_other_size)),
      rule("not-in-fixed-register", "a fixed operand stands elsewhere", {"fixed-register"}, operands(is_unchanged, fixed),
           give(anywhere)),
      rule("untied-operand", "a tied def does not stand in the register of its use", {"tied-operand"}, operands(is_unchanged, tied),
           give(anywhere)),
      rule("early-clobber-in-use", "an early-clobber def stands in the register of a use of the same instruction",
           {"early-clobber"},
           operand_pairs(is_operation,
                         [](const Site& s, const EditInst& i, std::size_t x, std::size_t y) {
                           return same_shape(i, x, y) && i.ops[y].reads() && s.original_ops(i)[x].is_early_clobber();
                         }),
           give(with_other)),
      rule("two-defs-in-one", "two defs of one instruction stand in one register", {"def-overlap"},
           operand_pairs(is_operation, [](const Site&, const EditInst& i, std::size_t x,
                                          std::size_t y) { return same_shape(i, x, y) && i.ops[y].writes(); }),
           give(with_other)),
      rule("phi-in-two-homes", "a phi was kept, though its operands are not in one register", {"phi-home"}, insts(deleted_phi),
           keep_phi),

      // The form of an instruction.
      rule("other-part", "another part of the register: .lo for .hi", {"operand-part"}, operands(is_unchanged, part),
           on_operand([](Trial&, Operand& op) { op.part = ir::Part::of(op.part.size_log2(), op.part.element() ^ 1); })),
      rule("flipped-guard", "a guard has lost its negation, or has become negated", {"negation"},
           operands(is_unchanged, role<Role::Guard>), on_operand([](Trial&, Operand& op) { op.flags ^= ir::kNegated; })),
      rule("dropped-guard", "a guard is missing", {"operand-count"}, insts(is_unchanged), on_inst(drop_guard)),
      rule("shorter-clobber", "the list of clobbers is shorter than it was", {"clobber", "operand-count"},
           operands(is_unchanged, role<Role::Clobber>), shorten_clobber),
      rule("other-immediate", "an immediate has changed", {"immediate"}, operands(is_unchanged, kind<OperandKind::Imm>),
           flip_immediate),
      rule("other-symbol", "a symbol has changed", {"symbol"}, operands(is_unchanged, kind<OperandKind::Symbol>),
           on_operand([](Trial& t, Operand& op) { op.set_symbol(t.program.header.symbols.intern("something")); })),
      rule("register-for-immediate", "a register operand has become an immediate", {"operand-kind"}, free_uses,
           on_operand([](Trial&, Operand& op) { op = Operand::of_imm(7); })),
      rule("other-role", "an operand that is read is written too", {"operand-role"}, operands(inner, role<Role::DefUse>),
           on_operand([](Trial&, Operand& op) { op.role = Role::Def; })),
      rule("other-operation", "an instruction has become another operation", {"opcode"},
           insts([](const Site& s, const EditInst& i) { return is_unchanged(s, i) && is<Op::Const, Op::Pack, Op::Unpack>(s, i); }),
           other_opcode(false)),
      rule("other-mnemonic", "a named operation has another name", {"mnemonic"},
           insts([](const Site& s, const EditInst& i) { return is_unchanged(s, i) && is<Op::Named>(s, i); }), other_opcode(true)),
      rule("other-flags", "the flags of an instruction have changed", {"flags"},
           insts([](const Site& s, const EditInst& i) { return is_unchanged(s, i) && is<Op::Named>(s, i); }),
           on_inst([](Trial& t, EditInst& i) {
             constexpr ir::InstFlags kFlags[] = {ir::kConvergent, ir::kCommutative, ir::kMemRead, ir::kBarrier};
             i.inst.flags ^= kFlags[t.random.below(std::size(kFlags))];
           })),

      // The list of instructions and their order.
      rule("missing-instruction", "an original instruction is missing", {"original-missing"}, insts(unchanged_inner), drop),
      rule("repeated-instruction", "an original instruction is there again under another number", {"original-unknown"},
           insts(inner), repeat(false)),
      rule("invented-instruction", "an inserted instruction of a kind that no allocator inserts", {"inserted-kind"}, insts(inner),
           repeat(true)),
      rule("original-called-inserted", "an original instruction is marked as an inserted one", {"inserted-id"}, insts(inner),
           on_inst([](Trial&, EditInst& i) { i.inst.flags |= ir::kInserted; })),
      rule("inserted-clobber", "an inserted copy clobbers a register", {"inserted-clobber"}, insts(kInsertedCopy),
           on_inst([](Trial& t, EditInst& i) {
             const auto r = t.site.another_home(i.ops[0].preg(), false, t.random);
             if (r) i.ops.push_back(Operand::of_preg(Role::Clobber, *r));
             return r.has_value();
           })),
      rule("reordered-instructions", "an original instruction stands behind one that it preceded", {"original-order"},
           inst_pairs(inner, operation_too, 5), to_other),
      rule("instruction-in-other-block", "an original instruction stands in another block", {"original-moved"},
           insts(unchanged_move), to_other_block),
      rule("deleted-operation", "an operation is deleted that may not be", {"deleted"}, insts(may_not_go), delete_original),
      rule("other-targets", "a branch has exchanged its targets", {"targets"}, insts(branch_with_a_choice),
           on_inst([](Trial&, EditInst& i) { std::swap(i.targets[0], i.targets[1]); })),
      rule("edge-block-elsewhere", "an edge block leads to another block than its edge", {"edge-block-branch"}, insts(edge_branch),
           lead_elsewhere),
      rule("edge-block-unmarked", "an edge block is not marked as one", {"block-added", "block-kind"}, edge_blocks(false),
           [](Trial& t, const Place& at) {
             t.program.blocks[at.block].attributes.edge_from = t.program.blocks[at.block].attributes.edge_to = BlockId();
             return true;
           }),
      rule("other-declaration", "the declaration of a vreg has changed", {"vreg-declaration"}, everywhere, other_alignment),
      rule("other-header", "the number of threads has changed", {"function-header"}, everywhere,
           [](Trial& t, const Place&) {
             t.program.header.threads += 32;
             return true;
           }),
      rule("nothing-allocated", "the result is the program before", {"phase"}, everywhere,
           [](Trial& t, const Place&) {
             t.program = EditProgram(t.site.subject.before);
             return true;
           }),
  };
}

}  // namespace

std::span<const FaultOperator> fault_operators() {
  static const std::vector<FaultOperator> table = make_table();
  return table;
}

}  // namespace regduel::trial
