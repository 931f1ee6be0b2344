#include "reference/program/rewrite.h"

#include <algorithm>
#include <bit>

#include "base/check_macro.h"
#include "base/planted.h"
#include "reference/spill/shared_slots.h"

namespace regduel::reference {
namespace {

constexpr std::uint32_t kNoSlot = 0xFFFFFFFFu;

class Rewriter {
 public:
  Rewriter(const Problem& problem, const Plan& plan, const Code& code, const std::vector<ir::PReg>& homes,
           const std::vector<std::uint8_t>& is_dead, ir::Fuel* fuel)
      : f_(problem.program()), problem_(problem), plan_(plan), code_(code), homes_(homes), is_dead_(is_dead), fuel_(fuel),
        out_(f_.clone_header()) {
    out_.phase = ir::Phase::Allocated;
    out_.reserve(code.insts.size(), std::max(code.refs.size(), f_.operands.size()));
    next_id_ = f_.next_inst_id().value;
    slot_of_.assign(plan.slots.size(), kNoSlot);
    if (ir::may(fuel, "share-slot")) shared_ = shared_slots(code, plan, is_dead);
  }

  ir::Allocation run() {
    find_saved();
    find_identities();
    find_edge_blocks();
    for (std::size_t b = 0; b < code_.blocks.size(); ++b) {
      if (code_.blocks[b].is_edge_block() && !edge_block_[b].is_valid()) continue;
      block(b);
    }
    pack_frame();
    return {std::move(out_), claims_};
  }

 private:
  // --- what is needed ---------------------------------------------------------------------------------------------
  void find_saved() {
    const auto& callee_saved = problem_.callee_saved();
    bool returns = false;
    ir::PerFile<UnitSet> touched;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      if (!code_.blocks[b].is_reachable) continue;
      const ir::Block& block = f_.blocks[b];
      for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
        returns = returns || f_.insts[i].op == ir::Op::Ret;
        if (const Shape& shape = problem_.shape(i); shape.has_clobbers())
          for (std::size_t k = 0; k < touched.size(); ++k) touched[k] |= (*shape.clobbers)[k];
      }
    }
    if (!returns) return;
    if (REGDUEL_PLANTED("briggs-callee-saved-not-saved")) return;
    for (const ir::PReg home : homes_)
      if (home.is_valid()) touched[ir::index(home.file)] |= units_of(home);
    for (const ir::RegFile file : ir::kAllFiles) {
      const UnitSet units = touched[ir::index(file)] & callee_saved[ir::index(file)];
      for (int u = units.first(); u >= 0; u = units.next(u + 1)) saved_.push_back({file, 1, static_cast<std::uint16_t>(u)});
    }
    for (const ir::PReg r : saved_) saved_slot_.push_back(new_slot(static_cast<std::uint32_t>(ir::unit_bytes(r.file))));
  }

  [[nodiscard]] bool is_identity(const CodeInst& inst) const {
    const auto refs = code_.refs_of(inst);
    return refs.size() == 2 && inst.dst_offset == inst.src_offset && home(refs[0].temp) == home(refs[1].temp);
  }
  [[nodiscard]] bool vanishes(std::uint32_t i) const {
    const CodeInst& inst = code_.insts[i];
    return is_dead_[i] || (inst.kind == CodeKind::Move && is_identity_[i]);
  }
  void find_identities() {
    is_identity_.assign(code_.insts.size(), 0);
    for (std::size_t i = 0; i < code_.insts.size(); ++i)
      is_identity_[i] = code_.insts[i].kind == CodeKind::Move && !is_dead_[i] && is_identity(code_.insts[i]) &&
                        ir::may(fuel_, "drop-identity-copy");
  }
  void find_edge_blocks() {
    edge_block_.resize(code_.blocks.size());
    std::size_t next = f_.blocks.size();
    for (std::size_t b = f_.blocks.size(); b < code_.blocks.size(); ++b) {
      const CodeBlock& block = code_.blocks[b];
      bool is_empty = true;
      for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) is_empty = is_empty && vanishes(i);
      if (REGDUEL_PLANTED("briggs-edge-block-of-one-copy-dropped") && block.num_insts == 1) continue;
      if (!is_empty) edge_block_[b] = ir::BlockId(next++);
    }
  }

  // --- pieces -----------------------------------------------------------------------------------------------------
  [[nodiscard]] ir::PReg home(TempId t) const {
    REGDUEL_CHECK(homes_[t].is_valid(), "a temp without a register in @" + f_.name);
    return homes_[t];
  }
  ir::Operand piece(ir::Role role, ir::PReg reg, std::size_t offset, std::size_t bytes) const {
    ir::Operand op = ir::Operand::of_preg(role, reg);
    if (offset == 0 && bytes == static_cast<std::size_t>(reg.count * ir::unit_bytes(reg.file))) return op;
    const auto part = ir::Part::from_bytes(static_cast<int>(offset), static_cast<int>(bytes));
    REGDUEL_CHECK(part.has_value(), "bytes that are no part of a register");
    op.part = *part;
    return op;
  }
  std::uint32_t new_slot(std::uint32_t bytes) {
    ir::Slot s;
    s.size = bytes;
    s.align = std::min<std::uint32_t>(16, std::bit_ceil(bytes));  // of three words, two may be stored at once
    return out_.add_slot(s).value;
  }
  ir::SlotId slot(std::uint32_t decided) {
    REGDUEL_CHECK(decided < slot_of_.size(), "a value without a slot in @" + f_.name);
    if (!shared_.empty()) decided = shared_[decided];
    if (slot_of_[decided] == kNoSlot) slot_of_[decided] = new_slot(plan_.slots[decided].bytes);
    return ir::SlotId(slot_of_[decided]);
  }
  ir::Inst inserted(ir::Op op) {
    ir::Inst i;
    i.op = op;
    i.id = ir::InstId(next_id_++);
    i.flags = ir::kInserted;
    return i;
  }
  // The instruction that stands for a spill or a refill: the original copy under a new operation, or a new one. The whole of a
  // narrow value is less than a register, but an original operand would keep its part, so such a copy is deleted instead.
  ir::Inst standing_for(const CodeInst& inst, ir::Op op, const ir::Operand& reg) {
    if (inst.source == kNoSource) return inserted(op);
    if (!reg.part.is_whole()) {
      deleted(inst.source);
      return inserted(op);
    }
    ir::Inst i = f_.insts[inst.source];
    i.mnemonic = {};
    i.op = op;
    return i;
  }
  void append(const ir::Inst& inst, std::span<const ir::Operand> ops, std::span<const ir::BlockId> targets = {}) {
    for (const ir::Operand& op : ops)
      if (op.is_preg() && op.role != ir::Role::Clobber) {
        int& registers = claims_.registers[ir::index(op.preg().file)];
        registers = std::max(registers, op.preg().end());
      }
    if (inst.op == ir::Op::Spill) claims_.spill_store_bytes += out_.operand_bytes(ops[0]);
    if (inst.op == ir::Op::Refill) claims_.spill_load_bytes += out_.operand_bytes(ops[0]);
    out_.append(inst, ops, targets);
  }
  void spill(const ir::Inst& inst, const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset) {
    const ir::Operand ops[] = {reg, ir::Operand::of_slot(slot, offset)};
    append(inst, ops);
  }
  void deleted(std::uint32_t source) {
    ir::Inst i = f_.insts[source];
    i.flags |= ir::kDeleted;
    out_.append(i, {});
  }

  // --- blocks -----------------------------------------------------------------------------------------------------
  void block(std::size_t b) {
    const CodeBlock& block = code_.blocks[b];
    ir::Block attributes;
    if (block.is_edge_block()) {
      const ir::Block &from = f_.block(block.edge_from), &to = f_.block(block.edge_to);
      attributes.depth = std::min(from.depth, to.depth);
      attributes.freq = std::min(from.freq, to.freq);
      attributes.edge_from = block.edge_from;
      attributes.edge_to = block.edge_to;
    } else {
      attributes = f_.blocks[b];
    }
    out_.begin_block(attributes);
    if (b == 0)
      for (std::size_t k = 0; k < saved_.size(); ++k)
        spill(inserted(ir::Op::Spill), ir::Operand::of_preg(ir::Role::Use, saved_[k]), ir::SlotId(saved_slot_[k]), 0);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) instruction(b, i);
    if (block.is_edge_block()) append(inserted(ir::Op::Bra), {}, {&block.edge_to, 1});
  }

  void instruction(std::size_t b, std::uint32_t i) {
    const CodeInst& inst = code_.insts[i];
    const auto refs = code_.refs_of(inst);
    if (vanishes(i)) {
      if (inst.source != kNoSource) deleted(inst.source);
      return;
    }
    switch (inst.kind) {
      case CodeKind::Deleted: return deleted(inst.source);
      case CodeKind::Original: return original(b, inst);
      case CodeKind::Move: {
        if (refs.size() > 2) return parallel_copy(refs);
        if (inst.source != kNoSource) {
          const auto ops = f_.operands_of(f_.insts[inst.source]);
          const ir::Operand placed[] = {f_.placed_at(ops[0], home(refs[0].temp)), f_.placed_at(ops[1], home(refs[1].temp))};
          return append(f_.insts[inst.source], placed);
        }
        if (home(refs[0].temp).file != home(refs[1].temp).file && move_bit(home(refs[0].temp), home(refs[1].temp))) return;
        const ir::Operand ops[] = {piece(ir::Role::Def, home(refs[0].temp), inst.dst_offset, inst.bytes),
                                   piece(ir::Role::Use, home(refs[1].temp), inst.src_offset, inst.bytes)};
        return append(inserted(ir::Op::Copy), ops);
      }
      case CodeKind::Refill: {
        const ir::Operand reg = piece(ir::Role::Def, home(refs[0].temp), inst.dst_offset, inst.bytes);
        return spill(standing_for(inst, ir::Op::Refill, reg), reg, slot(inst.slot), inst.slot_offset);
      }
      case CodeKind::Store: {
        const ir::Operand reg = piece(ir::Role::Use, home(refs[0].temp), inst.src_offset, inst.bytes);
        return spill(standing_for(inst, ir::Op::Spill, reg), reg, slot(inst.slot), inst.slot_offset);
      }
      case CodeKind::Remat: {
        ir::Inst remat = inserted(ir::Op::Remat);
        remat.ref = f_.insts[inst.remat_of].id;
        const auto from = f_.operands_of(f_.insts[inst.remat_of]);
        placed_.assign(from.begin(), from.end());
        placed_[0] = ir::Operand::of_preg(ir::Role::Def, home(refs[0].temp));
        return append(remat, placed_);
      }
    }
  }

  // Between a predicate and the first bit of its pack, on the way to memory. False where no register, or both, is a predicate.
  bool move_bit(ir::PReg to, ir::PReg from) {
    if (ir::is_predicate(to.file) == ir::is_predicate(from.file)) return false;
    const bool is_store = ir::is_predicate(from.file);
    const ir::Operand ops[] = {ir::Operand::of_preg(is_store ? ir::Role::DefUse : ir::Role::Def, to),
                               ir::Operand::of_preg(ir::Role::Use, from), ir::Operand::of_imm(0)};
    append(inserted(is_store ? ir::Op::BitSpill : ir::Op::BitRefill), ops);
    return true;
  }

  void parallel_copy(std::span<const Ref> refs) {
    placed_.clear();
    for (const std::size_t first : {0, 1})
      for (std::size_t k = first; k < refs.size(); k += 2)
        placed_.push_back(ir::Operand::of_preg(first == 0 ? ir::Role::Def : ir::Role::Use, home(refs[k].temp)));
    append(inserted(ir::Op::Copy), placed_);
  }
  void original(std::size_t b, const CodeInst& inst) {
    const ir::Inst& from = f_.insts[inst.source];
    const auto ops = f_.operands_of(from);
    placed_.assign(ops.begin(), ops.end());
    for (std::size_t k = 0; k < placed_.size(); ++k)
      if (placed_[k].is_vreg()) placed_[k] = f_.placed_at(placed_[k], home(code_.operand_temp[from.first_operand + k]));
    if (from.is_copy() && !problem_.shape(inst.source).has_clobbers() && copies_nothing(placed_) &&
        ir::may(fuel_, "drop-identity-copy"))
      return deleted(inst.source);
    targets_.assign(f_.targets_of(from).begin(), f_.targets_of(from).end());
    if (!targets_.empty())
      for (const std::uint32_t s : code_.successors[b])
        if (edge_block_[s].is_valid()) std::ranges::replace(targets_, code_.blocks[s].edge_to, edge_block_[s]);
    if (from.op == ir::Op::Ret)
      for (std::size_t k = 0; k < saved_.size(); ++k)
        spill(inserted(ir::Op::Refill), ir::Operand::of_preg(ir::Role::Def, saved_[k]), ir::SlotId(saved_slot_[k]), 0);
    append(from, placed_, targets_);
  }
  static bool copies_nothing(const std::vector<ir::Operand>& ops) {
    const auto n = static_cast<std::size_t>(
        std::count_if(ops.begin(), ops.end(), [](const ir::Operand& op) { return op.role == ir::Role::Def; }));
    for (std::size_t k = 0; k < n; ++k)
      if (!ops[k].names_same(ops[n + k])) return false;
    return true;
  }

  void pack_frame() {
    std::vector<std::size_t> order(out_.slots.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return out_.slots[a].align != out_.slots[b].align ? out_.slots[a].align > out_.slots[b].align : a < b;
    });
    std::uint32_t at = f_.local_frame;  // behind the program's own variables
    for (const std::size_t k : order) {
      ir::Slot& s = out_.slots[k];
      at = (at + s.align - 1) / s.align * s.align;
      s.offset = at;
      at += s.size;
    }
    out_.local_frame = at;
  }

  const ir::Function& f_;
  const Problem& problem_;
  const Plan& plan_;
  const Code& code_;
  const std::vector<ir::PReg>& homes_;
  const std::vector<std::uint8_t>& is_dead_;
  ir::Fuel* fuel_;
  std::vector<std::uint8_t> is_identity_;  // by index of Code::insts: moves within one home, which are left out
  ir::Function out_;
  ir::Claims claims_;
  std::uint32_t next_id_ = 0;
  std::vector<std::uint32_t> shared_;  // by slot of the plan, the slot that it becomes; empty = itself
  std::vector<std::uint32_t> slot_of_;
  std::vector<ir::PReg> saved_;
  std::vector<std::uint32_t> saved_slot_;
  std::vector<ir::BlockId> edge_block_;  // by block of the code; invalid = one of the program, or left out
  std::vector<ir::Operand> placed_;      // of the instruction at hand
  std::vector<ir::BlockId> targets_;
};

}  // namespace

ir::Allocation rewrite(const Problem& problem, const Plan& plan, const Code& code, const std::vector<ir::PReg>& homes,
                       const std::vector<std::uint8_t>& is_dead, ir::Fuel* fuel) {
  return Rewriter(problem, plan, code, homes, is_dead, fuel).run();
}

}  // namespace regduel::reference
