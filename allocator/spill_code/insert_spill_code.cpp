// See insert_spill_code.h.

#include "allocator/spill_code/insert_spill_code.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "allocator/instruction/items.h"
#include "allocator/program/names.h"
#include "allocator/spill_code/edge_copies.h"
#include "allocator/spill_code/refill_reuse.h"
#include "allocator/spill_code/spill_code_writer.h"
#include "base/planted.h"

namespace regduel::allocator {

namespace {

class SpillCodeInserter : private SpillCodeWriter {
 public:
  SpillCodeInserter(const Function& in, const ir::Cfg& cfg, const Liveness& live, const Plan& plan, const Budget& budget)
      : SpillCodeWriter(in, live, plan, budget.memory_through_r), cfg_(cfg), reuse_(in, live, plan, budget) {}

  SpillCode run() {
    for (std::size_t b = 0; b < in_.blocks.size(); ++b) {
      const ir::Block& block = in_.blocks[b];
      out_.f.begin_block(block);
      const bool keeps_refills = REGDUEL_PLANTED("fatpoint-refill-kept-across-blocks");
      if (!keeps_refills) reuse_.begin_block();
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        begin_instruction(block.first_inst + k);
        if (REGDUEL_PLANTED("fatpoint-loss-cold-refills") && block.depth == 0) reuse_.forget_all();
        const Inst& inst = in_.insts[current()];
        if (!cfg_.is_reachable(BlockId(b)) || inst.is_deleted()) append(inst, in_.operands_of(inst), in_.targets_of(inst));
        else if (inst.is_inserted() && is_between_pieces(inst)) copy_between_pieces(inst);
        else if (inst.is_inserted() && inst.is_copy()) {
          reuse_.forget_all();
          write_edge_copies(*this, inst);
        } else instruction(inst);
      }
    }
    return std::move(out_);
  }

 private:
  // The register in which one item of the instruction at hand stands.
  struct Work {
    VRegId vreg;
    std::size_t leader = 0;  // the item whose temporary it shares: itself, or one of the same root in the same home
    ByteMask before = 0;     // bytes that must be there before the instruction
    VRegId waiting;          // a refilled temporary of an earlier instruction, which holds the needed bytes
    bool is_temp = false;    // the vreg's own register does not hold the value (yet)
    bool is_home = false;    // a tied def that stands in its own vreg
    bool is_loaded = false;  // an earlier refill still holds it
    bool may_wait = false;   // its value may stay for later uses
  };

  [[nodiscard]] bool is_pinned() const { return !plan_.pinned[current()].empty(); }
  [[nodiscard]] bool may_wait() const { return plan_.reuse.barred_insts[current()] == 0; }

  // Whether a vreg operand must stand in a register in which its vreg does not live.
  [[nodiscard]] bool is_bound(const Operand& op) const {
    return op.fixed().is_valid() && plan_.location[op.vreg().index()].kind() != Location::Kind::OwnRegister;
  }

  [[nodiscard]] bool is_plain(const Inst& inst) const {
    if (is_pinned()) return false;
    const auto ops = in_.operands_of(inst);
    for (const Operand& op : ops) {
      if (!op.is_vreg()) continue;
      if (is_spilled(op.vreg())) return false;
      if (is_bound(op)) return false;
      if (op.is_tied() && ops[op.tied].vreg() != op.vreg()) return false;
    }
    return true;
  }

  void instruction(const Inst& inst) {
    const auto ops = in_.operands_of(inst);
    reuse_.at(live_.number_of(current()));
    if (is_plain(inst)) return rewritten(inst, ops);
    const bool is_served_by_remats = inst.has(ir::kRematerialisable) && ops[0].is_vreg() &&
                                     plan_.location[ops[0].vreg().index()].is_recomputed() &&
                                     plan_.location[ops[0].vreg().index()].inst() == current();
    if (is_served_by_remats) {
      for (const Operand& op : ops.subspan(1))
        if (op.is_vreg()) mark_changed(op.vreg());
      return deleted(inst);
    }
    if (inst.is_copy() && original_copy(inst)) return;

    build_items(in_, inst, items_);
    works_.assign(items_.items.size(), {});
    take_what_waits(inst);
    for (std::size_t k = 0; k < works_.size(); ++k) choose(inst, k);
    find_needed_before(inst);
    load_temporaries();
    rewritten_.assign(ops.begin(), ops.end());
    for (std::size_t o = 0; o < ops.size(); ++o)
      if (items_.of_operand[o] != kNoItem) rewritten_[o].set_vreg(works_[items_.of_operand[o]].vreg);
    rewritten(inst, rewritten_);
    post_copies_.clear();
    // What goes through registers of R goes when R has room again.
    for (const bool is_direct : {true, false})
      for (std::size_t k = 0; k < works_.size(); ++k)
        if (is_stored(items_.items[k].file) == is_direct) write_back(inst, k);
    copy(post_copies_);
  }

  // A waiting value may be copied to a fixed register here. No value waits across an instruction with fixed operands or clobbers.
  void take_what_waits(const Inst& inst) {
    const auto is_bound_item = [](const Item& i) { return i.fixed.is_valid(); };
    for (std::size_t k = 0; k < works_.size() && !is_pinned(); ++k) {
      const Item& item = items_.items[k];
      if ((!is_bound_item(item) && item.reads == item.writes) || !item.reads.is_valid() || !is_spilled(item.reads)) continue;
      if (!reuse_.may_have(item.reads)) continue;
      if (const ByteMask needed = needed_bytes(inst, k); needed != 0)
        works_[k].waiting = reuse_.waiting(item.reads, needed, live_.number_of(current()));
    }
    const auto ops = in_.operands_of(inst);
    if (is_pinned() || std::any_of(items_.items.begin(), items_.items.end(), is_bound_item) ||
        (!ops.empty() && ops.back().role == Role::Clobber))
      reuse_.forget_all();
  }

  // Bytes that each temporary must hold before the instruction: those it reads, and old bytes that a guarded def may leave unchanged.
  void find_needed_before(const Inst& inst) {
    const auto ops = in_.operands_of(inst);
    const bool is_guarded = ir::is_guarded(ops);
    for (std::size_t o = 0; o < ops.size(); ++o) {
      if (items_.of_operand[o] == kNoItem) continue;
      const std::size_t at = inst.first_operand + o;
      ByteMask kept = is_guarded && ops[o].writes() ? bytes_of(in_, ops[o]) & live_.live_after(at) & live_.reached_before(at) : 0;
      if (REGDUEL_PLANTED("fatpoint-guarded-store-without-refill")) kept = 0;
      works_[works_[items_.of_operand[o]].leader].before |= ops[o].reads() ? live_.read_bytes(at) : kept;
    }
  }

  // Copies from registers first, all at once; then refills.
  void load_temporaries() {
    pre_copies_.clear();
    refilled_.clear();
    for (std::size_t k = 0; k < works_.size(); ++k) {
      const Work& w = works_[k];
      const VRegId root = items_.items[k].reads;
      if (!w.is_temp || w.leader != k || w.before == 0 || w.is_loaded || !root.is_valid()) continue;
      const VRegId source = is_spilled(root) ? w.waiting : root;
      const ByteMask bytes = cover(w.vreg, w.before);
      if (source.is_valid()) pre_copies_.push_back({reg(Role::Def, w.vreg, bytes), reg(Role::Use, source, bytes)});
      else refilled_.push_back({root, w.vreg, bytes, w.may_wait});
    }
    copy(pre_copies_);
    // What comes through registers of R comes while R still has room.
    std::ranges::stable_partition(refilled_, [&](const Refilled& r) { return !is_stored(in_.vreg(r.root).file()); });
    for (const Refilled& r : refilled_) {
      refill(r.temp, r.bytes, r.root);
      if (r.may_wait && may_wait()) reuse_.remember(r.root, r.temp, is_recomputed(r.root) ? all_bytes(r.temp) : r.bytes, true);
    }
  }

  // Bytes that must be loaded before the instruction: those it reads, or all of them if the def may leave some unchanged.
  [[nodiscard]] ByteMask needed_bytes(const Inst& inst, std::size_t k) const {
    const auto ops = in_.operands_of(inst);
    ByteMask needed = 0;
    for (std::size_t o = 0; o < ops.size(); ++o)
      if (items_.of_operand[o] == k)
        needed |= ops[o].reads()     ? live_.read_bytes(inst.first_operand + o)
                  : ops[o].is_tied() ? 0
                                     : all_bytes(items_.items[k].root());
    return needed;
  }

  // The vreg in which an item stands: its own, or a temporary.
  void choose(const Inst& inst, std::size_t k) {
    const Item& item = items_.items[k];
    Work& work = works_[k];
    work.leader = k;
    const VRegId root = item.root();
    if (item.architectural) {  // it keeps its register even if the instruction is pinned
      work.vreg = root;
      return;
    }
    const bool tied_apart = item.reads.is_valid() && item.writes.is_valid() && item.reads != item.writes;
    const bool pinned = is_pinned();
    const PReg fixed = pinned ? plan_.pinned[current()][k] : item.fixed;
    const bool bound = fixed.is_valid() && (pinned || plan_.location[root.index()].kind() != Location::Kind::OwnRegister);
    if (!bound && !tied_apart && !is_spilled(root)) {
      work.vreg = root;
      return;
    }
    work.is_temp = true;
    for (const VRegId changed : {item.reads, item.writes})
      if (changed.is_valid()) mark_changed(changed);
    if (pinned)
      for (std::size_t j = 0; j < k; ++j)
        if (plan_.pinned[current()][j] == fixed && items_.items[j].at_reads && item.at_reads &&
            items_.items[j].reads == item.reads) {
          work.leader = works_[j].leader;
          work.vreg = works_[j].vreg;
          return;
        }
    const auto ops = in_.operands_of(inst);
    if (tied_apart && !bound && !is_spilled(root) && in_.vreg(root).alignment() >= item.align &&
        std::none_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.is_vreg() && op.reads() && op.vreg() == root; }) &&
        ir::may(plan_.fuel, "tied-in-place")) {
      work.vreg = root;  // the tied use is copied into it before, and the def stays there
      work.is_home = true;
      return;
    }
    if (!bound && !tied_apart && item.reads.is_valid() && reuse_.may_have(root)) {
      if (const VRegId waiting = reuse_.waiting(root, needed_bytes(inst, k), live_.number_of(current())); waiting.is_valid()) {
        work.vreg = waiting;
        work.is_loaded = true;
        work.may_wait = true;
        return;
      }
    }
    work.may_wait = !bound && !tied_apart;
    work.vreg = new_temp(root, std::countr_zero(static_cast<unsigned>(item.align)), bound ? fixed : PReg());
  }

  // Moves the def of an item from its temporary to the vreg's register or slot.
  void write_back(const Inst& inst, std::size_t k) {
    const Item& item = items_.items[k];
    const Work& work = works_[k];
    if (!item.writes.is_valid()) return;
    reuse_.forget(item.writes);
    if (!work.is_temp || work.is_home) return;
    const auto ops = in_.operands_of(inst);
    std::vector<ByteMask>& pieces = pieces_;
    pieces.clear();
    ByteMask united = 0;
    for (std::size_t o = 0; o < ops.size(); ++o) {
      if (items_.of_operand[o] != k || !ops[o].writes()) continue;
      const ByteMask bytes = bytes_of(in_, ops[o]);
      if ((bytes & live_.live_after(inst.first_operand + o)) == 0) continue;
      pieces.push_back(bytes);
      united |= bytes;
    }
    if (pieces.empty()) return;
    if (is_piece(work.vreg, united)) pieces.assign(1, united);
    for (const ByteMask bytes : pieces) {
      if (is_spilled(item.writes)) store(work.vreg, bytes, item.writes);
      else post_copies_.push_back({reg(Role::Def, item.writes, bytes), reg(Role::Use, work.vreg, bytes)});
    }
    if (is_spilled(item.writes) && work.may_wait && may_wait() && !item.keeps && !item.early && works_[work.leader].leader == k)
      reuse_.remember(item.writes, work.vreg, all_bytes(work.vreg), false);
  }

  // The instruction itself with these operands. Fixed registers and ties are those of the vregs now.
  void rewritten(const Inst& inst, std::span<const Operand> ops) {
    append(inst, ops, in_.targets_of(inst));
    for (Operand& op : std::span(out_.f.operands).last(ops.size())) {
      if (!op.is_vreg()) continue;
      op.set_fixed({});
      op.tied = ir::kNotTied;
    }
  }

  void deleted(const Inst& inst) {
    append(inst, {});
    out_.f.insts.back().flags |= ir::kDeleted;
  }

  // A copy of one pair of whole vregs, of which one is spilled. False if it is to be treated as any other instruction.
  [[nodiscard]] bool original_copy(const Inst& inst) {
    const auto ops = in_.operands_of(inst);
    if (ops.size() != 2 || is_pinned()) return false;
    for (const Operand& op : ops)
      if (!op.part.is_whole() || op.fixed().is_valid() || op.is_tied() || op.is_early_clobber()) return false;
    const VRegId d = ops[0].vreg(), s = ops[1].vreg();
    if (!is_spilled(d) && !is_spilled(s)) return false;
    if (!ir::may(plan_.fuel, "copy-through-memory")) return false;
    if (is_spilled(d) && live_.live_after(inst.first_operand) == 0) {
      mark_changed(s);
      deleted(inst);
      return true;
    }
    if (is_packed(d) && plan_.location[d.index()] == plan_.location[s.index()]) {
      deleted(inst);
      reuse_.forget(d);  // a waiting value is an older one of d
      return true;
    }
    // A narrow value moves fewer bytes than the copy, so that the move cannot have the copy's id.
    const bool is_narrow = slot_bytes(in_.vreg(s)) < ir::unit_bytes(in_.vreg(s).file());
    const auto become = [&](Op op, Operand moved_reg, SlotId slot) {
      Inst moved = inst;
      moved.op = op;
      const Operand moved_ops[] = {moved_reg, Operand::of_slot(slot)};
      if (!is_narrow && is_stored(out_.f.vreg(moved_reg.vreg()).file())) return append(moved, moved_ops);
      mark_changed(d);
      mark_changed(s);
      deleted(inst);
      if (op == Op::Spill) to_slot(moved_reg, slot, 0);
      else from_slot(moved_reg, slot, 0);
    };
    const auto as_store = [&](VRegId from) {
      if (is_packed(d)) {
        mark_changed(s);
        deleted(inst);
        store(from, all_bytes(from), d);
        return reuse_.forget(d);
      }
      become(Op::Spill, reg(Role::Use, from, all_bytes(from)), slot_of(d));
      reuse_.forget(d);
    };
    if (!is_spilled(s)) {
      as_store(s);
      return true;
    }
    if (const VRegId waiting = reuse_.waiting(s, all_bytes(s), live_.number_of(current())); waiting.is_valid()) {
      if (is_spilled(d)) {
        as_store(waiting);
      } else {
        rewritten_.assign(ops.begin(), ops.end());
        rewritten_[1].set_vreg(waiting);
        rewritten(inst, rewritten_);
      }
      return true;
    }
    if (is_recomputed(s)) {
      if (!is_spilled(d)) return false;
      const VRegId t = new_temp(s, in_.vreg(s).align_log2, {});
      refill(t, all_bytes(t), s);
      as_store(t);
      return true;
    }
    if (is_packed(s)) {
      const VRegId t = is_spilled(d) ? new_temp(s, 0, {}) : d;
      if (!is_spilled(d)) {
        mark_changed(d);
        deleted(inst);
      }
      refill(t, all_bytes(t), s);
      if (is_spilled(d)) as_store(t);
      reuse_.forget(d);
      return true;
    }
    const VRegId t = is_spilled(d) ? new_temp(d, in_.vreg(d).align_log2, {}) : d;
    become(Op::Refill, reg(Role::Def, t, all_bytes(t)), slot_of(s));
    reuse_.forget(d);
    if (is_spilled(d)) store(t, all_bytes(t), d);
    return true;
  }

  // --- pieces of a vreg that was split (split_program.h)

  [[nodiscard]] bool is_between_pieces(const Inst& inst) const {
    const auto ops = in_.operands_of(inst);
    // A phi may copy one part of a vreg to another part of it.
    return inst.is_copy() && !plan_.first_of.empty() && ops.size() == 2 &&
           plan_.slot_owner(ops[0].vreg()) == plan_.slot_owner(ops[1].vreg()) && bytes_of(in_, ops[0]) == bytes_of(in_, ops[1]);
  }

  // A store, a refill, or a copy of the bytes that the written piece needs. If both pieces are in memory, they share a slot, and no
  // code is needed.
  void copy_between_pieces(const Inst& inst) {
    const auto ops = in_.operands_of(inst);
    const VRegId d = ops[0].vreg(), s = ops[1].vreg();
    reuse_.at(live_.number_of(current()));
    const ByteMask bytes = bytes_of(in_, ops[0]), needed = bytes & live_.live_after(inst.first_operand);
    reuse_.forget(d);
    if (needed != 0 && !is_spilled(d) && !is_spilled(s)) {
      mark_in_place();
      return append(inst, ops);
    }
    mark_changed(d);
    mark_changed(s);
    if (needed == 0 || (is_spilled(d) && is_spilled(s))) return;
    if (is_spilled(d)) {
      if (!is_recomputed(d)) store(s, bytes, d);
      return;
    }
    // Other bytes of d may be newer than those of s.
    const ByteMask covered = is_recomputed(s) ? all_bytes(d) : cover(d, needed);
    refill(d, (covered & ~bytes) == 0 ? covered : bytes, s);
  }

  const ir::Cfg& cfg_;
  RefillReuse reuse_;
  Items items_;
  std::vector<Work> works_;
  std::vector<Pair> pre_copies_, post_copies_;
  std::vector<Operand> rewritten_;
  std::vector<ByteMask> pieces_;
  struct Refilled {
    VRegId root, temp;
    ByteMask bytes;
    bool may_wait;
  };
  std::vector<Refilled> refilled_;  // before the instruction at hand
};

}  // namespace

SpillCode insert_spill_code(const Function& in, const ir::Cfg& cfg, const Liveness& live, const Plan& plan, const Budget& budget) {
  return SpillCodeInserter(in, cfg, live, plan, budget).run();
}

}  // namespace regduel::allocator
