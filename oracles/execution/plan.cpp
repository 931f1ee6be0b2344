// Decodes a pair of programs for the execution judge.
//
// After allocation, an operand of an original instruction is in the register that the *hardware* would touch: a fixed operand in
// its fixed register, whatever the program after says, and a tied pair in the register of the def. So a broken constraint shows as
// a wrong value and not only as a broken rule.

#include "oracles/execution/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"
#include "oracles/before.h"
#include "oracles/execution/guards.h"
#include "oracles/pair/match.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::FileBytes;
using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;

constexpr std::uint32_t kFileBytes = ir::kMaxUnits * 4;

std::uint64_t hash_string(std::string_view s) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return mix64(h ^ s.size());
}

void extend(ir::PerFile<std::uint32_t>& cells, PReg r) {
  if (r.is_valid() && static_cast<int>(r.file) < ir::kNumFiles && r.end() <= ir::kMaxUnits)
    cells[index(r.file)] = std::max(cells[index(r.file)], static_cast<std::uint32_t>(r.end()) * 4);
}

// The cells of the program before.
struct CellsBefore {
  explicit CellsBefore(const Before& before) : of_root(before.program().vregs.size(), 0) {
    const Function& f = before.program();
    for (std::size_t v = 0; v < f.vregs.size(); ++v) {
      extend(accessed, f.vregs[v].fixed);
      if (f.vregs[v].alias.is_valid()) continue;
      of_root[v] = num_root_cells;
      num_root_cells += static_cast<std::uint32_t>(f.vregs[v].bytes());
    }
    for (const Operand& op : f.operands) extend(accessed, op.fixed());
    for (const PReg r : before.preserved()) extend(accessed, r);
  }

  std::vector<std::uint32_t> of_root;
  std::uint32_t num_root_cells = 0;
  ir::PerFile<std::uint32_t> accessed = {};  // cells of each file up to the last one
};

// If the pair cannot be run, decoding goes on with empty places, and the first reason is reported.
class Planner {
 public:
  explicit Planner(const Case& c)
      : case_(c), before_(c.before), after_(c.after), cells_before_(c.prepared.part<CellsBefore>()),
        columns_(c.prepared.part<PredicateColumns>()) {}

  std::expected<Plan, std::string> run() {
    if (after_.blocks.size() < before_.blocks.size()) return std::unexpected("the program after has lost blocks");
    lay_out();
    hash_of_symbol_.assign(before_.symbols.size(), 0);
    plan_.steps.reserve(after_.insts.size() + after_.insts.size() / 8);
    plan_.operands.reserve(after_.operands.size() + after_.operands.size() / 8);
    plan_.blocks.reserve(after_.blocks.size());
    plan_.edges_of.reserve(before_.blocks.size());
    plan_.edges.reserve(2 * before_.blocks.size());
    for (std::size_t b = 0; b < after_.blocks.size() && !unreadable_.is_set(); ++b) block(BlockId(b));
    for (std::size_t b = 0; b < before_.blocks.size() && !unreadable_.is_set(); ++b) edges(BlockId(b));
    if (unreadable_.is_set()) return std::unexpected(unreadable_.why());
    lay_out_memory();
    plan_.in_use.push_back({memory_begin_, static_cast<std::uint32_t>(plan_.num_cells) - memory_begin_});
    for (const Step& s : plan_.steps) {
      if (s.kind != StepKind::Move && !s.moves_bytes) continue;
      std::size_t cells = 0;
      for (std::size_t k = 0; k < std::size_t{s.num_uses} + s.num_clobbers + s.num_defs; ++k)
        cells += plan_.operands[s.first_operand + k].before_size;
      plan_.largest_operands = std::max(plan_.largest_operands, cells);
    }
    for (const PReg r : case_.prepared.preserved()) plan_.callee_saved.push_back(place_of_bytes(bytes_of_register(r)));
    return std::move(plan_);
  }

 private:
  // --- places -----------------------------------------------------------------------------------------------------
  void lay_out() {
    // Of each file, as many cells as some operand reaches, clobbers included.
    ir::PerFile<std::uint32_t> reach = {};
    accessed_ = cells_before_.accessed;
    for (const Operand& op : after_.operands)
      if (op.is_preg()) extend(op.role == Role::Clobber ? reach : accessed_, op.preg());
    for (std::size_t f = 0; f < reach.size(); ++f) reach[f] = std::max(reach[f], accessed_[f]);
    std::uint32_t at = cells_before_.num_root_cells;
    for (std::size_t f = 0; f < files_begin_.size(); ++f) {
      files_begin_[f] = at;
      at += reach[f];
    }
    memory_begin_ = at;
    plan_.num_cells = memory_begin_;
    plan_.in_use.reserve(files_begin_.size() + 2);
    plan_.in_use.push_back({0, files_begin_[0]});
    for (std::size_t f = 0; f < files_begin_.size(); ++f) plan_.in_use.push_back({files_begin_[f], accessed_[f]});
    for (std::size_t v = 0; v < before_.vregs.size(); ++v) {
      const ir::VReg& reg = before_.vregs[v];
      if (reg.is_architectural() && reg.fixed.is_valid())
        plan_.architectural.emplace_back(ByteRange{cells_before_.of_root[v], static_cast<std::uint32_t>(reg.bytes())},
                                         place_of_bytes(bytes_of_register(reg.fixed)));
    }
  }

  [[nodiscard]] ByteRange before_place(const Operand& op) const {
    const ir::Storage s = before_.storage(op);
    return {cells_before_.of_root[s.root.index()] + s.offset, s.size};
  }
  [[nodiscard]] ByteRange place_of_bytes(const FileBytes& b) const {
    return {files_begin_[index(b.file)] + b.begin, b.end - b.begin};
  }
  // A call clobbers whole files, of which a program reads few registers: registers behind the last one that is read are left out.
  [[nodiscard]] ByteRange without_idle_cells(ir::RegFile file, ByteRange clobbered) const {
    const std::uint32_t end = std::max(clobbered.begin, files_begin_[index(file)] + accessed_[index(file)]);
    return {clobbered.begin, std::min(clobbered.size, end - clobbered.begin)};
  }
  // The register that the operand itself names.
  ByteRange own_place(const Inst& i, const Operand& op) {
    if (!op.is_preg() || static_cast<int>(op.preg().file) >= ir::kNumFiles) {
      unreadable_.because(i, "an operand is in no register");
      return {};
    }
    const FileBytes b = Function::file_bytes(op);
    if (b.end > kFileBytes || b.begin >= b.end) {
      unreadable_.because(i, "a register outside every file");
      return {};
    }
    return place_of_bytes(b);
  }
  ByteRange hardware_place(const Inst& i, std::span<const Operand> want, std::span<const Operand> have, std::size_t k) {
    const HardwareHome home = hardware_home(before_, want, k);
    return home.is_fixed ? place_of_bytes(home.bytes) : own_place(i, have[home.operand]);
  }

  // The bytes of the frame are numbered after all touched bytes are known: the bytes of a stretch without a gap follow each other.
  struct Access {
    std::uint32_t operand;  // in plan_.operands
    bool is_written;        // the pair's written place (before), else its read one (after)
    std::uint64_t address;  // space in the top bit
    std::uint32_t size;
  };
  struct Stretch {
    std::uint64_t begin, end;
    std::uint32_t cell = 0;
  };
  void lay_out_memory() {
    std::vector<Stretch> stretches;
    stretches.reserve(accesses_.size());
    for (const Access& a : accesses_) stretches.push_back({a.address, a.address + a.size});
    const auto less = [](const Stretch& a, const Stretch& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; };
    std::sort(stretches.begin(), stretches.end(), less);
    std::vector<Stretch> together;
    for (const Stretch& t : stretches) {
      if (!together.empty() && t.begin <= together.back().end) together.back().end = std::max(together.back().end, t.end);
      else together.push_back(t);
    }
    for (Stretch& s : together) {
      s.cell = static_cast<std::uint32_t>(plan_.num_cells);
      plan_.num_cells += s.end - s.begin;
    }
    for (const Access& a : accesses_) {
      const auto behind = std::upper_bound(together.begin(), together.end(), a.address,
                                           [](std::uint64_t address, const Stretch& s) { return address < s.begin; });
      const Stretch& s = *(behind - 1);
      StepOperand& op = plan_.operands[a.operand];
      (a.is_written ? op.before : op.after) = s.cell + static_cast<std::uint32_t>(a.address - s.begin);
    }
  }

  // --- steps ------------------------------------------------------------------------------------------------------
  Step& begin_step(StepKind kind, const Inst& i) {
    Step s;
    s.kind = kind;
    s.inst = i.id;
    s.first_operand = static_cast<std::uint32_t>(plan_.operands.size());
    plan_.steps.push_back(s);
    return plan_.steps.back();
  }
  static void set_before(StepOperand& op, const ByteRange& p) {
    op.before = p.begin;
    op.before_size = static_cast<std::uint16_t>(p.size);
  }
  static void set_after(StepOperand& op, const ByteRange& p) {
    op.after = p.begin;
    op.after_size = static_cast<std::uint16_t>(p.size);
  }
  // Requires: `def` is an operand of the program before.
  void set_column(StepOperand& op, const Operand& def) const {
    const std::uint8_t column = columns_.of_operand[static_cast<std::size_t>(&def - before_.operands.data())];
    op.is_predicate = column != PredicateColumns::kNoColumn;
    op.bit = op.is_predicate ? column : 0;
  }
  void add_pair(const ByteRange& before, const ByteRange& after) {
    StepOperand op;
    set_before(op, before);
    set_after(op, after);
    plan_.operands.push_back(op);
    ++plan_.steps.back().num_defs;
  }
  // The hash of an original instruction without its register operands. `executed` may be a remat of it, with immediates and symbols
  // of its own.
  void describe(Step& s, const Inst& original, const Inst* executed = nullptr) {
    const auto has = [&](int flags) { return (original.flags & flags) != 0; };
    s.moves_bytes = ir::moves_pieces(original.op);
    s.writes_memory = has(ir::kMemWrite | ir::kBarrier) || original.op == Op::Call || original.op == Op::Bar;
    s.reads_memory = (has(ir::kMemRead) && !has(ir::kReadOnly)) || original.op == Op::Call;
    s.is_ret = original.op == Op::Ret;
    s.may_be_repeated = has(ir::kRematerialisable);
    s.hash = hash_combine(static_cast<std::uint64_t>(original.op) + 1,
                          original.mnemonic.is_valid() ? symbol_hash(original.mnemonic) : 0);
    const auto want = before_.operands_of(original), have = executed == nullptr ? want : after_.operands_of(*executed);
    for (std::size_t k = 0; k < want.size(); ++k) {
      if (!want[k].reads() || want[k].role == Role::Guard) continue;
      const bool is_register = want[k].is_vreg();
      s.hash = hash_combine(s.hash, is_register           ? static_cast<std::uint64_t>(before_.operand_bytes(want[k]))
                                    : executed == nullptr ? constant_hash(want[k])
                                                          : constant_hash_after(have[k]));
    }
  }
  [[nodiscard]] std::uint64_t symbol_hash(ir::SymbolId id) {
    if (id.index() >= hash_of_symbol_.size()) return 0;
    std::uint64_t& hash = hash_of_symbol_[id.index()];
    if (hash == 0) hash = hash_string(before_.symbols[id]) | 1;
    return hash;
  }
  [[nodiscard]] std::uint64_t constant_hash(const Operand& op) {
    if (op.kind == ir::OperandKind::Symbol) return symbol_hash(op.symbol());
    return mix64(static_cast<std::uint64_t>(op.imm()) ^ 0x1337);
  }
  // The same strings may have other numbers in the program after.
  [[nodiscard]] std::uint64_t constant_hash_after(const Operand& op) {
    return op.kind == ir::OperandKind::Symbol ? hash_string(after_.symbols[op.symbol()]) | 1 : constant_hash(op);
  }

  void block(BlockId b) {
    const auto begin = static_cast<std::uint32_t>(plan_.steps.size());
    match_block(
        before_, after_, b, unreadable_, [&](std::uint32_t k, std::uint32_t a) { original(before_.insts[k], after_.insts[a]); },
        [&](std::uint32_t a) { inserted(after_.insts[a]); });
    plan_.blocks.push_back({begin, static_cast<std::uint32_t>(plan_.steps.size())});
  }

  void original(const Inst& b, const Inst& a) {
    if (b.is_phi()) return;  // on the edges
    if (b.is_copy()) {
      begin_step(StepKind::Move, b);
      move_operands(before_, b, true);
      if (!a.is_deleted()) after_move(a, &b);
      return;
    }
    if (!a.is_deleted()) return operation(begin_step(StepKind::Both, a), b, a);
    Step& s = begin_step(StepKind::Compute, b);
    describe(s, b);
    for (const bool writes : {false, true})
      for (const Operand& want : before_.operands_of(b)) {
        if (!want.is_vreg() || want.role == Role::Guard || !(writes ? want.writes() : want.reads())) continue;
        StepOperand op;
        set_before(op, before_place(want));
        op.is_negated_before = want.is_negated();
        if (writes) set_column(op, want);
        plan_.operands.push_back(op);
        if (writes) ++s.num_defs;
        else ++s.num_uses;
      }
  }

  // An original instruction on both sides, or a remat of one, which has no part in the program before.
  void operation(Step& s, const Inst& b, const Inst& a) {
    const bool is_remat = s.kind == StepKind::Compute;
    const auto want = before_.operands_of(b), have = after_.operands_of(a);
    if (want.size() != have.size()) return unreadable_.because(a, "the number of operands has changed");
    describe(s, b, is_remat ? &a : nullptr);
    defs_.clear();
    for (std::size_t k = 0; k < want.size() && !unreadable_.is_set(); ++k) {
      if (want[k].role != have[k].role) return unreadable_.because(a, "the role of an operand has changed");
      const bool is_clobber = want[k].role == Role::Clobber;
      if (!is_clobber && !want[k].is_vreg()) continue;
      StepOperand op;
      op.number = static_cast<std::uint16_t>(k);
      op.is_negated_before = want[k].is_negated();
      op.is_negated_after = have[k].is_negated();
      op.is_early = want[k].is_early_clobber() && want[k].role == Role::Def;
      if (is_clobber) {
        if (is_remat) continue;
        set_after(op, without_idle_cells(want[k].preg().file, own_place(a, want[k])));
        if (op.after_size == 0) continue;
        ++s.num_clobbers;
        plan_.operands.push_back(op);
        continue;
      }
      const ByteRange here = before_place(want[k]), there = hardware_place(a, want, have, k);
      if (there.size < here.size) unreadable_.because(a, "an operand is narrower than before");
      if (want[k].role == Role::Guard) {
        if (is_remat) continue;
        plan_.has_guards = s.has_guard = true;
        s.guard_number = op.number;
        s.guard_before = here.begin;
        s.guard_after = there.begin;
        s.is_guard_negated_before = op.is_negated_before;
        s.is_guard_negated_after = op.is_negated_after;
        continue;
      }
      if (is_remat) {
        set_before(op, {there.begin, want[k].role == Role::Def ? there.size : here.size});
        op.is_negated_before = op.is_negated_after;
      } else {
        set_before(op, here);
        set_after(op, there);
      }
      if (want[k].reads()) {
        ++s.num_uses;
        plan_.operands.push_back(op);
      }
      if (want[k].writes()) {
        s.has_early = s.has_early || (op.is_early && !is_remat);
        set_column(op, want[k]);
        defs_.push_back(op);
      }
    }
    s.num_defs = static_cast<std::uint32_t>(defs_.size());
    plan_.operands.insert(plan_.operands.end(), defs_.begin(), defs_.end());
  }

  // A copy, spill or refill.
  void move_operands(const Function& f, const Inst& i, bool is_before) {
    const auto ops = f.operands_of(i);
    const auto place = [&](const Operand& op) { return is_before ? before_place(op) : own_place(i, op); };
    std::size_t defs = 0;
    while (defs < ops.size() && ops[defs].writes()) ++defs;
    if (ops.size() < 2 * defs) return unreadable_.because(i, "a copy without uses");
    for (std::size_t k = 0; k < defs && !unreadable_.is_set(); ++k) {
      if (!ops[defs + k].is_register()) return unreadable_.because(i, "a copy of something that is no register");
      const ByteRange to = place(ops[k]);
      add_pair(to, place(ops[defs + k]));
    }
    guard(i, ops, is_before);
  }

  void guard(const Inst& i, std::span<const Operand> ops, bool is_before) {
    for (const Operand& op : ops) {
      if (op.role != Role::Guard) continue;
      const ByteRange at = is_before ? before_place(op) : own_place(i, op);
      Step& s = plan_.steps.back();
      plan_.has_guards = s.has_guard = true;
      s.is_guard_negated_before = op.is_negated();
      s.guard_before = at.begin;
      s.is_after = !is_before;
    }
  }

  void memory_operand(const Inst& i, const Operand& reg, const Operand& slot, bool is_spill) {
    if (!slot.is_slot() || slot.slot().index() >= after_.slots.size()) return unreadable_.because(i, "no such slot");
    const ByteRange at = own_place(i, reg);
    // lay_out_memory() numbers the bytes of the frame.
    add_pair(at, at);
    const ir::Slot& s = after_.slots[slot.slot().index()];
    const std::uint64_t space = s.space == ir::MemSpace::Local ? 0 : 1ull << 63;
    accesses_.push_back({static_cast<std::uint32_t>(plan_.operands.size() - 1), is_spill,
                         space + static_cast<std::uint64_t>(s.offset) + slot.slot_offset(), at.size});
  }

  void after_move(const Inst& a, const Inst* original) {
    begin_step(StepKind::Move, a);
    clobbers_of_move(a, original);
    if (a.op == Op::Copy) return move_operands(after_, a, false);
    const auto ops = after_.operands_of(a);
    if ((a.op != Op::Spill && a.op != Op::Refill) || ops.size() < 2)
      return unreadable_.because(a, "a copy has become something else");
    memory_operand(a, ops[0], ops[1], a.op == Op::Spill);
    guard(a, ops, false);
  }

  // Early-clobber defs among them: the program before says which defs of an original copy are.
  void clobbers_of_move(const Inst& a, const Inst* original) {
    const auto ops = after_.operands_of(a);
    std::span<const Operand> want;
    if (original != nullptr && a.op == Op::Copy) want = before_.operands_of(*original);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const bool is_early = k < want.size() && want[k].role == Role::Def && want[k].is_early_clobber();
      if (!is_early && ops[k].role != Role::Clobber) continue;
      StepOperand op;
      op.is_early = is_early;
      set_after(op, ops[k].is_preg() ? without_idle_cells(ops[k].preg().file, own_place(a, ops[k])) : ByteRange{});
      plan_.operands.push_back(op);
      ++plan_.steps.back().num_clobbers;
    }
  }

  void inserted(const Inst& i) {
    switch (i.op) {
      case Op::Copy:
      case Op::Spill:
      case Op::Refill: return after_move(i, nullptr);
      case Op::P2R: return pack_step(StepKind::P2R, i);
      case Op::R2P: return pack_step(StepKind::R2P, i);
      case Op::BitSpill: return pack_step(StepKind::BitSpill, i);
      case Op::BitRefill: return pack_step(StepKind::BitRefill, i);
      case Op::Bra: return;
      case Op::Remat: {
        const std::uint32_t at = case_.prepared.ids().find(i.ref);
        if (at == IdIndex::kNone) return unreadable_.because(i, "a remat of nothing");
        return operation(begin_step(StepKind::Compute, i), before_.insts[at], i);
      }
      default: unreadable_.because(i, "an inserted instruction of a kind that is not inserted");
    }
  }

  // Operand 0 = the pack; then one operand for each predicate, with its bit.
  void pack_step(StepKind kind, const Inst& i) {
    begin_step(kind, i);
    const PackForm form = pack_form(after_, i);
    const ByteRange pack = form.pack == nullptr ? ByteRange{} : own_place(i, *form.pack);
    add_pair(pack, {});
    for (const PackedPredicate& p : form.predicates) {
      const ByteRange at = own_place(i, *p.predicate);
      if (p.bit > 31 || pack.size < 4) return unreadable_.because(i, "a pack has 32 bits");
      add_pair(at, {});
      StepOperand& predicate = plan_.operands.back();
      predicate.bit = static_cast<std::uint8_t>(p.bit);
      predicate.is_negated_before = p.predicate->is_negated();
    }
    guard(i, after_.operands_of(i), false);
  }

  // --- edges ------------------------------------------------------------------------------------------------------
  void edges(BlockId from) {
    const auto begin = static_cast<std::uint32_t>(plan_.edges.size());
    const auto want = before_.successors(from);
    if (want.size() != after_.successors(from).size())
      return unreadable_.because(fmt::format("block b{} has other successors than before", from.value));
    for (std::size_t k = 0; k < want.size(); ++k) {
      Edge e;
      e.to = want[k];
      find_path(before_, after_, from, k, path_);
      e.is_followed = path_.arrives;
      e.first_path = static_cast<std::uint32_t>(plan_.path.size());
      e.num_path = static_cast<std::uint32_t>(path_.blocks.size());
      plan_.path.insert(plan_.path.end(), path_.blocks.begin(), path_.blocks.end());
      phi_moves(e, from, path_.blocks.empty() ? from : path_.blocks.back());
      plan_.edges.push_back(e);
    }
    plan_.edges_of.push_back({begin, static_cast<std::uint32_t>(plan_.edges.size())});
  }

  void phi_moves(Edge& e, BlockId from, BlockId last) {
    PhiPredecessor predecessor;
    for (const Inst& i : before_.insts_of(e.to)) {
      if (!i.is_phi()) break;
      // Well-formed: one use for each predecessor.
      const std::size_t k = predecessor.find(before_.targets_of(i), from);
      const auto ops = before_.operands_of(i);
      add_phi(e.before_move, i, before_place(ops[0]), before_place(ops[k + 1]));
    }
    for (const Inst& i : after_.insts_of(e.to)) {
      if (!i.is_phi() || i.is_deleted() || i.is_inserted()) continue;
      const auto incoming = after_.targets_of(i);
      std::size_t k = predecessor.find(incoming, last);
      if (k == incoming.size()) k = predecessor.find(incoming, from);
      const auto ops = after_.operands_of(i);
      if (k == incoming.size() || ops.size() != incoming.size() + 1)
        return unreadable_.because(i, "a phi without a use for a predecessor");
      add_phi(e.after_move, i, own_place(i, ops[0]), own_place(i, ops[k + 1]));
    }
  }

  // The phis of one side are one step, made for the first of them.
  void add_phi(std::uint32_t& step, const Inst& i, const ByteRange& to, const ByteRange& value) {
    if (step == kNoStep) {
      step = static_cast<std::uint32_t>(plan_.steps.size());
      begin_step(StepKind::Move, i);
    }
    add_pair(to, value);
  }

  const Case& case_;
  const Function& before_;
  const Function& after_;
  Plan plan_;
  Unreadable unreadable_;
  const CellsBefore& cells_before_;
  const PredicateColumns& columns_;
  ir::PerFile<std::uint32_t> files_begin_ = {};
  ir::PerFile<std::uint32_t> accessed_ = {};  // of each file: cells up to the last that anything but a clobber touches
  std::uint32_t memory_begin_ = 0;
  std::vector<Access> accesses_;
  EdgePath path_;
  std::vector<StepOperand> defs_;              // of the instruction at hand
  std::vector<std::uint64_t> hash_of_symbol_;  // 0 = not yet asked for
};

}  // namespace

std::expected<Plan, std::string> make_plan(const Case& c) { return Planner(c).run(); }

}  // namespace regduel::oracles
