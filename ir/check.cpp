// Well-formedness, rule by rule. Declarations first, then the shape of blocks, then each instruction; each index is
// checked before it is followed, so that any contents whatever can be looked at (the binary decoder relies on that).

#include "ir/check.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/operand_conflicts.h"

namespace regduel::ir {
namespace {

constexpr std::uint32_t kMaxInstId = 0x7FFFFFFF, kMaxOriginalId = 0x3FFFFFFF;

template <class Id>
Diagnostic about(Id Diagnostic::* what, Id id, std::string message) {
  Diagnostic d;
  d.*what = id;
  d.message = std::move(message);
  return d;
}
Diagnostic about_operand(const Inst& i, int operand, std::string message) {
  Diagnostic d = about(&Diagnostic::inst, i.id, std::move(message));
  d.operand = operand;
  return d;
}

class Checker {
 public:
  Checker(const Function& f, int max_diagnostics) : f_(f), max_(static_cast<std::size_t>(max_diagnostics)), conflicts_(f) {}

  std::vector<Diagnostic> run() {
    declarations();
    // Instructions refer to declarations, and blocks to each other, so a wrong one ends the check.
    if (faults_.empty()) shape();
    if (faults_.empty())
      for (std::size_t b = 0; b < f_.blocks.size() && !full(); ++b) block(BlockId(b));
    if (faults_.empty() && f_.phase == Phase::Virtual) phi_predecessors();
    return std::move(faults_);
  }

 private:
  [[nodiscard]] bool full() const { return faults_.size() >= max_; }
  void add(Diagnostic d) {
    if (!full()) faults_.push_back(std::move(d));
  }
  void fault(const Inst& i, int operand, std::string message) { add(about_operand(i, operand, std::move(message))); }
  void function_fault(std::string message) { add(about(&Diagnostic::inst, InstId(), std::move(message))); }
  void block_fault(BlockId b, std::string message) { add(about(&Diagnostic::block, b, std::move(message))); }

  // --- declarations -----------------------------------------------------------------------------------------------
  void declarations() {
    if (f_.threads < 1 || f_.threads > 1u << 20) function_fault("threads a block: expected 1 to 1048576");
    if (f_.phase == Phase::Virtual && (!f_.slots.empty() || f_.shared_frame != 0))
      function_fault("slots and a frame in shared memory exist only after allocation");
    for (const SourceLine& l : f_.source_lines)
      if (l.file.index() >= f_.symbols.size() || l.line == 0) return function_fault("a source line has a file and is 1 at least");
    for (std::size_t v = 0; v < f_.vregs.size() && !full(); ++v) vreg(VRegId(v));
    for (std::size_t s = 0; s < f_.slots.size() && !full(); ++s)
      if (const char* message = fault_of(f_.slots[s])) add(about(&Diagnostic::slot, SlotId(s), message));
  }
  // Null = none.
  static const char* fault_of(const Slot& slot) {
    if (slot.size == 0 || slot.size > 1u << 30) return "a slot has 1 to 2^30 bytes";
    if (slot.align == 0 || (slot.align & (slot.align - 1)) != 0) return "an alignment is a power of two";
    if (slot.offset % slot.align != 0) return "the slot is not aligned";
    if (slot.space > MemSpace::Shared) return "no such memory space";
    if (slot.offset > 1u << 30) return "the slot lies too far out";
    return nullptr;
  }

  void vreg(VRegId id) {
    const VReg& v = f_.vreg(id);
    const auto bad = [&](std::string message) { add(about(&Diagnostic::vreg, id, std::move(message))); };
    if (static_cast<int>(v.cls) >= kNumClasses) return bad("no such register class");
    if (v.type > TypeKind::Pred) return bad("no such type");
    static constexpr int kWidths[] = {1, 8, 16, 32, 64, 96, 128, 256};
    if (std::find(std::begin(kWidths), std::end(kWidths), v.width) == std::end(kWidths))
      return bad("the width is none of 1, 8, 16, 32, 64, 96, 128, 256");
    const RegFile file = v.file();
    if (is_predicate(file) != (v.width == 1) || is_predicate(file) != (v.type == TypeKind::Pred))
      return bad("the type pred goes with the classes P and UP, and only with them");
    if (is_barrier(file) && v.width != 32) return bad("a barrier register has 32 bits");
    if (v.align_log2 > 8 || (v.align_log2 != 0 && (is_predicate(file) || is_barrier(file))))
      return bad("the alignment is out of range for the class");
    if (v.name.is_valid() && v.name.index() >= f_.symbols.size()) return bad("the name is no symbol");
    if (v.hint.is_valid() && v.hint.index() >= f_.vregs.size())
      return bad(fmt::format("the hint %{} is not declared", v.hint.value));
    if (!v.alias_part.is_valid_code() || (!v.alias.is_valid() && !v.alias_part.is_whole())) return bad("the alias part is none");
    if (v.alias.is_valid()) {
      // The parent is declared before: so there are no cycles.
      if (v.alias.value >= id.value) return bad("the parent of an alias is declared before it");
      const VReg& parent = f_.vreg(v.alias);
      if (parent.file() != file) return bad("an alias is in the file of its parent");
      if (v.fixed.is_valid()) return bad("an alias is fixed through its root");
      const Part part = v.alias_part;
      if (part.is_whole() ? parent.bytes() != v.bytes() : part.size_bytes() != v.bytes())
        return bad("an alias is as wide as (the part of) the parent that it names");
      if (!part.is_whole() && (part.offset_bytes() + part.size_bytes() > parent.bytes() || is_predicate(file)))
        return bad("the part lies outside the parent");
    }
    if (v.is_architectural() && !v.fixed.is_valid()) return bad("an architectural register is fixed: it says which");
    if (v.is_architectural()) conflicts_.add_architectural(id);
    if (v.fixed.is_valid() && !fits_home(v, v.fixed))
      bad(fmt::format("{} is no home for it: file, size or alignment", to_string(f_, v.fixed)));
  }

  static bool in_some_file(PReg r) { return static_cast<int>(r.file) < kNumFiles && r.is_valid() && r.end() <= kMaxUnits; }
  static bool fits_home(const VReg& v, PReg r) {
    return in_some_file(r) && r.file == v.file() && r.count == v.units() && r.first % v.alignment() == 0;
  }

  // --- shape ------------------------------------------------------------------------------------------------------
  void shape() {
    if (f_.blocks.empty()) return function_fault("a function has at least one block");
    std::size_t at = 0;
    bool edge_seen = false;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      const Block& block = f_.blocks[b];
      if (block.first_inst != at || block.num_insts > f_.insts.size() - at)
        return block_fault(BlockId(b), "the blocks do not tile the instructions");
      at += block.num_insts;
      if (block.num_insts == 0) return block_fault(BlockId(b), "the block is empty: it needs a terminator");
      if (block.depth < -1 || block.depth > 1000) return block_fault(BlockId(b), "the loop depth is not in 0 to 1000");
      if (block.freq > static_cast<std::uint64_t>(INT64_MAX)) return block_fault(BlockId(b), "the frequency is above 2^63 - 1");
      if (block.name.is_valid() && block.name.index() >= f_.symbols.size()) return block_fault(BlockId(b), "the name is no symbol");
      const bool is_edge = block.edge_from.is_valid() || block.edge_to.is_valid();
      if (is_edge &&
          (f_.phase == Phase::Virtual || block.edge_from.index() >= f_.blocks.size() || block.edge_to.index() >= f_.blocks.size()))
        return block_fault(BlockId(b), "an edge block exists only after allocation, between two blocks");
      if (is_edge && b == 0) return block_fault(BlockId(b), "the entry is no edge block");
      if (edge_seen && !is_edge) return block_fault(BlockId(b), "an original block after an edge block");
      edge_seen = edge_seen || is_edge;
    }
    if (at != f_.insts.size()) return function_fault("instructions outside all blocks");
    std::size_t operand_at = 0, target_at = 0;
    for (const Inst& i : f_.insts) {
      if (i.first_operand != operand_at || i.num_operands > f_.operands.size() - operand_at)
        return fault(i, -1, "the instructions do not tile the operands");
      if (i.first_target != target_at || i.num_targets > f_.targets.size() - target_at)
        return fault(i, -1, "the instructions do not tile the targets");
      operand_at += i.num_operands;
      target_at += i.num_targets;
      if (i.id.value > kMaxInstId) return fault(i, -1, "an instruction number is below 2^31");
      if (f_.phase == Phase::Virtual && i.id.value > kMaxOriginalId)
        return fault(i, -1, "an instruction number is below 2^30 in a program over vregs: what an allocator inserts comes above");
      if (!is_known(i.op)) return fault(i, -1, "no such operation");
      if (i.mnemonic.is_valid() && i.mnemonic.index() >= f_.symbols.size()) return fault(i, -1, "the mnemonic is no symbol");
      if (i.line.is_valid() && i.line.index() >= f_.source_lines.size()) return fault(i, -1, "there is no such source line");
      for (const BlockId t : f_.targets_of(i))
        if (t.index() >= f_.blocks.size()) return fault(i, -1, fmt::format("there is no block b{}", t.value));
    }
    if (operand_at != f_.operands.size() || target_at != f_.targets.size())
      return function_fault("operands or targets outside all instructions");
    distinct_numbers();
  }

  // No instruction has the number of an earlier one. Requires: numbers in range.
  void distinct_numbers() {
    std::uint32_t end = 0;
    for (const Inst& i : f_.insts) end = std::max(end, i.id.value + 1);
    const auto fault_if = [&](const auto& is_new) {
      for (const Inst& i : f_.insts)
        if (!is_new(i.id.value)) return fault(i, -1, "the instruction number is there twice");
    };
    if (end / 64 <= f_.insts.size()) {
      std::vector<bool> seen(end);
      fault_if([&](std::uint32_t id) { return !seen[id] && (seen[id] = true); });
    } else {  // far apart
      std::unordered_set<std::uint32_t> seen;
      fault_if([&](std::uint32_t id) { return seen.insert(id).second; });
    }
  }

  // --- blocks and instructions ------------------------------------------------------------------------------------
  void block(BlockId b) {
    const auto insts = f_.insts_of(b);
    bool body = false;
    for (std::size_t k = 0; k < insts.size() && !full(); ++k) {
      const Inst& i = insts[k];
      const bool last = k + 1 == insts.size();
      if (i.is_terminator() && !last) fault(i, -1, "a terminator stands at the end of its block");
      if (last && !i.is_terminator())
        fault(i, -1, fmt::format("block b{} ends without a terminator (bra, cbra, mbra, ret, exit)", b.value));
      if (i.is_phi() && body) fault(i, -1, "phis stand at the head of their block");
      if (i.is_phi() && b.value == 0) fault(i, -1, "there is no phi in the entry block");
      body = body || !i.is_phi();
      instruction(i);
    }
  }

  void instruction(const Inst& i) {
    if (full()) return;  // the checks below notice a fault by the growth of the list
    if (f_.phase == Phase::Virtual && (i.is_inserted() || i.is_deleted() || is_allocator_only(i.op)))
      return fault(i, -1, "inserted and deleted instructions, spills and the like exist only after allocation");
    if (i.is_deleted()) {
      if (i.is_inserted() || i.is_terminator()) fault(i, -1, "neither an inserted instruction nor a terminator can be deleted");
      if (i.num_operands != 0 || i.num_targets != 0) fault(i, -1, "a deleted instruction has no operands");
      return;
    }
    if (i.op == Op::Named && f_.symbols[i.mnemonic].empty()) return fault(i, -1, "an operation has a name");
    if (i.has(kReadOnly) && !i.has(kMemRead)) fault(i, -1, "!readonly goes with !read");
    const std::size_t before = faults_.size();
    operands(i);
    if (faults_.size() != before) return;
    op_shape(i);
    if (faults_.size() != before || f_.phase == Phase::Allocated) return;
    for (const auto& conflict : {conflicts_.among(i), conflicts_.with_architectural(i)})
      if (conflict) fault(i, conflict->operand, conflict->message);
  }

  // Each operand alone, and their order.
  void operands(const Inst& i) {
    const auto ops = f_.operands_of(i);
    const auto rank = [](Role r) { return std::max(r, Role::DefUse); };  // roles stand in this order
    int guards = 0;
    for (std::size_t k = 0; k < ops.size() && !full(); ++k) {
      const Operand& op = ops[k];
      const int at = static_cast<int>(k);
      if (op.kind > OperandKind::Slot || op.role > Role::Clobber) return fault(i, at, "no such kind or role of operand");
      if (k > 0 && rank(op.role) < rank(ops[k - 1].role))
        return fault(i, at, "operands stand in the order defs, uses, guard, clobbers");
      if ((op.flags & ~(kEarlyClobber | kNegated)) != 0 || !op.part.is_valid_code()) return fault(i, at, "no such flag or part");
      if (!op.is_register()) {
        if (op.role != Role::Use || op.flags != 0 || op.is_tied() || !op.part.is_whole())
          return fault(i, at, "only a register can be written, tied or a guard");
        if (op.kind == OperandKind::Symbol && op.symbol().index() >= f_.symbols.size()) return fault(i, at, "no such symbol");
        if (op.is_slot() && op.slot().index() >= f_.slots.size()) return fault(i, at, "no such slot");
        if (op.is_slot() && !is_slot_move(i.op)) return fault(i, at, "a slot stands only in a spill or a refill");
        continue;
      }
      RegFile file = RegFile::R;
      int bytes = 0;
      if (op.role == Role::Clobber) {
        if (!op.is_preg() || !op.part.is_whole() || !in_some_file(op.preg()))
          return fault(i, at, "a clobber is a whole physical register");
        if (i.is_phi()) return fault(i, at, "a phi clobbers nothing");
        continue;
      }
      if (op.is_preg() && f_.phase == Phase::Virtual)
        return fault(i, at, "a physical register before allocation (fix a vreg to it instead)");
      if (op.is_vreg() && i.is_inserted()) return fault(i, at, "an inserted instruction names registers, not vregs");
      if (op.is_vreg()) {
        if (op.vreg().index() >= f_.vregs.size()) return fault(i, at, fmt::format("%{} is not declared", op.vreg().value));
        const VReg& v = f_.vreg(op.vreg());
        file = v.file();
        bytes = v.bytes();
        const PReg fixed = op.fixed();
        if (op.raw().extra != 0) {
          const VReg& root = f_.vreg(f_.root(op.vreg()));
          if (!fits_home(root, fixed) || Operand::pack(fixed) != op.raw().extra)
            return fault(
                i, at,
                fmt::format("{} is no home for %{}: file, size or alignment", to_string(f_, fixed), f_.root(op.vreg()).value));
          if (root.fixed.is_valid() && root.fixed != fixed)
            return fault(i, at, fmt::format("the vreg is fixed to {} already", to_string(f_, root.fixed)));
        }
      } else {
        if (!in_some_file(op.preg()) || Operand::pack(op.preg()) != op.raw().value || op.raw().extra != 0)
          return fault(i, at, "no such physical register");
        file = op.preg().file;
        bytes = op.preg().count * unit_bytes(file);
      }
      if (!op.part.is_whole() && (is_predicate(file) || op.part.offset_bytes() + op.part.size_bytes() > bytes))
        return fault(i, at, "the part lies outside the register");
      if (op.is_early_clobber() && op.role != Role::Def) return fault(i, at, "only a def can be early-clobber");
      if (op.is_negated() && (!is_predicate(file) || op.writes()))
        return fault(i, at, "only a predicate that is read can be negated");
      if (op.role == Role::Guard) {
        if (++guards > 1) return fault(i, at, "one guard an instruction");
        if (!is_predicate(file)) return fault(i, at, "a guard is a predicate");
        if (has_trait<kUnguarded>(i.op))
          return fault(i, at, "phis, terminators, remats and the computing of addresses have no guard");
      }
      if (op.is_tied() && op.role != Role::Def) return fault(i, at, "only a def is tied to a use");
    }
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (ops[k].is_tied()) tie(i, ops, k);
  }

  void tie(const Inst& i, std::span<const Operand> ops, std::size_t k) {
    const int at = static_cast<int>(k);
    const std::size_t use = ops[k].tied;
    if (use >= ops.size() || ops[use].role != Role::Use || !ops[use].is_register())
      return fault(i, at, "a def is tied to a use of a register");
    if (ops[k].is_early_clobber()) return fault(i, at, "a tied def cannot be early-clobber");
    if (is_guarded(ops)) return fault(i, at, "a guarded def already reads its own old value: it cannot be tied to another");
    for (std::size_t other = 0; other < k; ++other)
      if (ops[other].is_tied() && ops[other].tied == use) return fault(i, at, "two defs are tied to one use");
    if (!ops[k].is_vreg() || !ops[use].is_vreg()) return;
    const Storage d = f_.storage(ops[k]), u = f_.storage(ops[use]);
    const VReg &dv = f_.vreg(d.root), &uv = f_.vreg(u.root);
    if (!f_.is_whole(d) || !f_.is_whole(u)) return fault(i, at, "whole registers are tied, not parts");
    if (dv.file() != uv.file() || dv.width != uv.width) return fault(i, at, "tied operands have one file and one width");
    const PReg df = f_.fixed_of(ops[k]), uf = f_.fixed_of(ops[use]);
    if (df.is_valid() && uf.is_valid() && df != uf) fault(i, at, "tied operands are fixed to different registers");
    if (df.is_valid() && df.first % uv.alignment() != 0) fault(i, at, "the fixed register is not aligned for the tied use");
    if (uf.is_valid() && uf.first % dv.alignment() != 0)
      fault(i, at, "the fixed register of the tied use is not aligned for the def");
  }

  // --- what each operation consists of
  // The counts of opcode_table.h, and what takes more than a count to say.
  struct Counts {
    std::size_t defs = 0, inouts = 0, registers = 0, others = 0;  // the last two are uses
    bool negates = false;
  };
  static Counts counts_of(std::span<const Operand> ops) {
    Counts n;
    for (const Operand& op : ops) {
      if (op.role == Role::Def) ++n.defs;
      if (op.role == Role::DefUse) ++n.inouts;
      if (op.role != Role::Use) continue;
      ++(op.is_register() ? n.registers : n.others);
      n.negates = n.negates || op.is_negated();
    }
    return n;
  }
  void op_shape(const Inst& i) {
    const Opcode& want = opcode(i.op);
    const auto ops = f_.operands_of(i);
    const Counts n = counts_of(ops);
    if (!has_trait<kTouchesMemory>(i.op) && i.has(static_cast<InstFlags>(kMemRead | kMemWrite | kBarrier)))
      return fault(i, -1, "this operation touches no memory");
    if (i.is_terminator() && n.defs + n.inouts > 0) return fault(i, 0, "a terminator writes no register");
    if (!want.targets.allows(i.num_targets) || (i.is_phi() && i.num_targets != n.registers + n.others))
      return fault(i, -1, fmt::format("{}: the number of targets is wrong", name(i.op)));
    if (!want.defs.allows(n.defs) || !want.def_uses.allows(n.inouts) || !want.registers.allows(n.registers) ||
        !want.others.allows(n.others) || (has_trait<kUsesPlain>(i.op) && n.negates))
      return broken_shape(i);
    const std::size_t before = faults_.size();
    op_operands(i, ops, n);
    if (faults_.size() == before && i.has(kRematerialisable)) rematerialisable(i, ops, n);
  }
  void op_operands(const Inst& i, std::span<const Operand> ops, const Counts& n) {
    if (is_lowered(i.op)) return lowered(i, ops, n);
    if (packs_bits(i.op)) return packed_bits(i, ops, n);
    switch (i.op) {
      case Op::Copy: return copy(i, ops, n);
      case Op::Phi: return phi(i, ops);
      case Op::Pack:
      case Op::Unpack: return pieces(i, ops, n);
      case Op::CBra:
        if (!is_predicate(file(ops[0]))) broken_shape(i);
        return;
      case Op::Spill:
      case Op::Refill:
        if (!ops[1].is_slot()) broken_shape(i);
        else if (n.negates) fault(i, 0, "the register is not negated");
        return;
      case Op::Remat:
        if (i.ref.value > kMaxInstId) broken_shape(i);
        return;
      default: return;
    }
  }
  void broken_shape(const Inst& i) { fault(i, -1, std::string(opcode(i.op).shape)); }
  [[nodiscard]] RegFile file(const Operand& op) const { return op.is_vreg() ? f_.vreg(op.vreg()).file() : op.preg().file; }
  // After allocation a narrow vreg stands as its whole unit: widths of originals are for the judges, who have the program before.
  [[nodiscard]] bool widths_show(const Inst& i) const { return f_.phase == Phase::Virtual || i.is_inserted(); }

  void copy(const Inst& i, std::span<const Operand> ops, const Counts& n) {
    if (n.registers != n.defs) return broken_shape(i);
    for (std::size_t k = 0; k < n.defs; ++k) {
      const Operand &def = ops[k], &use = ops[n.defs + k];
      if ((f_.operand_bytes(def) != f_.operand_bytes(use) && widths_show(i)) || is_predicate(file(def)) != is_predicate(file(use)))
        return fault(i, static_cast<int>(k), "a copy's def and use have one width (and predicates are copied to predicates)");
    }
  }
  void phi(const Inst& i, std::span<const Operand> ops) {
    for (std::size_t k = 0; k < ops.size(); ++k)
      if ((widths_show(i) && (f_.operand_bytes(ops[k]) != f_.operand_bytes(ops[0]) || !ops[k].part.is_whole())) ||
          file(ops[k]) != file(ops[0]) || ops[k].fixed().is_valid() || ops[k].flags != 0)
        return fault(i, static_cast<int>(k),
                     "the operands of a phi are whole registers of one file and width, without constraints");
  }
  void pieces(const Inst& i, std::span<const Operand> ops, const Counts& n) {
    int sum = 0;
    const std::size_t whole = i.op == Op::Pack ? 0 : n.defs;
    for (std::size_t k = 0; k < n.defs + n.registers + n.others; ++k) {
      if (is_predicate(file(ops[k]))) return fault(i, static_cast<int>(k), "predicates are not packed this way");
      sum += k == whole ? 0 : f_.operand_bytes(ops[k]);
    }
    if (sum != f_.operand_bytes(ops[whole]) && widths_show(i)) fault(i, -1, "the pieces together are as wide as the whole");
  }
  void packed_bits(const Inst& i, std::span<const Operand> ops, const Counts& n) {
    const std::size_t pack = writes_pack(i.op) ? 0 : n.defs;
    if (!packs_by_number(i.op) &&
        (!ops[1].is_register() || ops[2].kind != OperandKind::Imm || ops[2].imm() < 0 || ops[2].imm() > 31))
      return broken_shape(i);
    if (file(ops[pack]) != RegFile::R || f_.operand_bytes(ops[pack]) != 4) return broken_shape(i);
    for (std::size_t k = 0; k < n.defs + n.inouts + n.registers; ++k) {
      if (k == pack || is_predicate(file(ops[k]))) continue;
      if (!packs_by_number(i.op)) return broken_shape(i);
      return fault(i, static_cast<int>(k), writes_pack(i.op) ? "p2r packs predicates" : "r2p restores predicates");
    }
  }
  void rematerialisable(const Inst& i, std::span<const Operand> ops, const Counts& n) {
    const bool has_op = i.op == Op::Named || i.op == Op::Const;
    const bool is_one_def = n.defs == 1 && n.inouts == 0 && (!ops[0].is_vreg() || f_.is_whole(ops[0])) && ops[0].part.is_whole();
    const bool clobbers = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Clobber; });
    if (!has_op || !is_one_def || is_guarded(ops) || clobbers || ops[0].is_tied() ||
        i.has(static_cast<InstFlags>(kMemWrite | kBarrier)))
      fault(i, -1, "!remat: one whole unguarded def, not tied, no clobber, no write");
  }
  void lowered(const Inst& i, std::span<const Operand> ops, const Counts& n) {
    if (!has_lowered_shape(i, ops)) broken_shape(i);
    else if (n.negates) fault(i, 0, "the register is not negated");
  }
  // A letter for each operand of lowered spill code: A is an address (a whole register of file R), R any register, N a number, S
  // a symbol.
  [[nodiscard]] static bool has_lowered_shape(const Inst& i, std::span<const Operand> ops) {
    const auto letters = [&]() -> std::string_view {
      switch (i.op) {
        case Op::GetLocalBase:
        case Op::SetLocalBase: return "AN";
        case Op::AddressMov: return "AS";
        case Op::AddressAdd:
        case Op::AddressShl: return "AAN";
        case Op::AddressMad: return "AANN";
        case Op::AddressAnd: return "AAS";
        case Op::SkipBra: return "N";
        default: return "RAN";  // an access
      }
    }();
    if (ops.size() < letters.size() || (i.op == Op::SkipBra && !is_guarded(ops))) return false;
    return std::equal(letters.begin(), letters.end(), ops.begin(), [](char letter, const Operand& op) {
      switch (letter) {
        case 'A': return op.is_preg() && op.part.is_whole() && op.preg().file == RegFile::R && op.preg().count == 1;
        case 'N': return op.role == Role::Use && op.kind == OperandKind::Imm;
        case 'S': return op.role == Role::Use && op.kind == OperandKind::Symbol;
        default: return op.is_register();
      }
    });
  }

  // A phi has exactly one use a distinct predecessor.
  void phi_predecessors() {
    if (std::none_of(f_.insts.begin(), f_.insts.end(), [](const Inst& i) { return i.is_phi(); })) return;
    std::vector<std::vector<BlockId>> preds(f_.blocks.size());
    for (std::size_t b = 0; b < f_.blocks.size(); ++b)
      for (const BlockId s : f_.successors(BlockId(b)))
        if (preds[s.index()].empty() || preds[s.index()].back() != BlockId(b)) preds[s.index()].push_back(BlockId(b));
    for (std::size_t b = 0; b < f_.blocks.size(); ++b)
      for (const Inst& i : f_.phis_of(BlockId(b))) {
        std::vector<BlockId> incoming(f_.targets_of(i).begin(), f_.targets_of(i).end());
        std::sort(incoming.begin(), incoming.end());
        if (incoming != preds[b]) fault(i, -1, fmt::format("the phi names other blocks than the predecessors of b{}", b));
      }
  }

  const Function& f_;
  std::size_t max_;
  std::vector<Diagnostic> faults_;
  OperandConflicts conflicts_;
};

}  // namespace

std::string to_string(const Function& f, const Diagnostic& d) {
  std::string place;
  if (d.inst.is_valid()) place = fmt::format("instruction {}", d.inst.value);
  if (d.inst.is_valid() && d.operand >= 0) place += fmt::format(", operand {}", d.operand);
  if (d.vreg.is_valid()) place = fmt::format("%{}", d.vreg.value);
  if (d.slot.is_valid()) place = fmt::format("slot {}", d.slot.value);
  if (d.block.is_valid()) place = fmt::format("b{}", d.block.value);
  if (place.empty()) place = fmt::format("function @{}", f.name);
  return fmt::format("{}: {}", place, d.message);
}

std::vector<Diagnostic> check(const Function& f, int max_diagnostics) { return Checker(f, max_diagnostics).run(); }

std::vector<Diagnostic> check(const Function& f, const Target& target, int max_diagnostics) {
  std::vector<Diagnostic> faults = check(f, max_diagnostics);
  if (!faults.empty()) return faults;
  if (f.predicate_halves != target.predicate_halves) {
    constexpr std::string_view kOne = "has one predicate to a register",
                               kTwo = "has two predicates to a register, which predicate_halves in the line of the function says";
    return {about(
        &Diagnostic::inst, InstId(),
        f.predicate_halves ? fmt::format("predicate_halves: {} {}", target.name, kOne) : fmt::format("{} {}", target.name, kTwo))};
  }
  const auto is_full = [&] { return static_cast<int>(faults.size()) >= max_diagnostics; };
  const auto inside = [&](PReg r) { return r.end() <= target.units[index(r.file)]; };
  const auto is_architectural = [&](RegFile file, int unit) {
    const PReg one = {file, 1, static_cast<std::uint16_t>(unit)};
    return std::ranges::any_of(f.vregs, [&](const VReg& v) { return v.is_architectural() && v.fixed.overlaps(one); });
  };
  // A reserved register may be an architectural vreg, and then an allocation names it.
  const auto reserved = [&](PReg r) {
    for (int unit = r.begin(); unit < r.end(); ++unit)
      if (target.is_reserved(f.abi, r.file, unit) && !is_architectural(r.file, unit)) return true;
    return false;
  };
  const auto not_offered = [&](PReg r) {
    const bool by_abi = std::ranges::any_of(target.abi(f.abi).reserved, [&](PReg a) { return a.overlaps(r); });
    return fmt::format("{} does not offer {}{}", target.name, to_string(f, r),
                       by_abi ? fmt::format(" under abi {}", name(f.abi)) : "");
  };
  for (std::size_t v = 0; v < f.vregs.size() && !is_full(); ++v) {
    const VReg& reg = f.vregs[v];
    const auto fault = [&](std::string message) { faults.push_back(about(&Diagnostic::vreg, VRegId(v), std::move(message))); };
    if (!target.has(reg.file())) fault(fmt::format("{} has no register file {}", target.name, name(reg.file())));
    else if (reg.fixed.is_valid() && (!inside(reg.fixed) || reserved(reg.fixed))) fault(not_offered(reg.fixed));
  }
  for (const Inst& i : f.insts) {
    const auto ops = f.operands_of(i);
    for (std::size_t k = 0; k < ops.size() && !is_full(); ++k) {
      const PReg r = ops[k].is_preg() ? ops[k].preg() : ops[k].fixed();
      if (!r.is_valid() || (inside(r) && (ops[k].role == Role::Clobber || !reserved(r)))) continue;
      faults.push_back(about_operand(i, static_cast<int>(k), not_offered(r)));
    }
  }
  return faults;
}

}  // namespace regduel::ir
