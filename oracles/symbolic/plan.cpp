// Decodes a pair of programs for the symbolic judge.
//
// As in an execution, an operand of an original instruction is where the *hardware* has it: a fixed operand in its fixed register,
// whatever the program after says, and a tied pair in the register of the def.
// Tested by symbolic_plan_test.cpp.

#include "oracles/symbolic/plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/cfg.h"

namespace regduel::oracles::symbolic {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;

// The first reason wins, and decoding goes on to its end with harmless places.
class Planner {
 public:
  explicit Planner(const Case& c) : case_(c), before_(c.before), after_(c.after), plan_(c) {}

  std::expected<Plan, std::string> run() {
    if (after_.blocks.size() < before_.blocks.size()) return std::unexpected("the program after has lost blocks");
    plan_.num_names = plan_.names.size();
    plan_.num_locations = plan_.locations.size();
    plan_.is_byte_location.assign(plan_.num_locations, 0);
    for (const ir::RegFile file : {ir::RegFile::P, ir::RegFile::UP})
      for (int u = 0; u < ir::kMaxUnits; ++u) plan_.is_byte_location[plan_.locations.of_unit(file, u)] = 1;
    plan_.bytes_of_name.assign(plan_.num_names, 0xF);
    for (std::size_t v = 0; v < before_.vregs.size(); ++v)
      if (!before_.vregs[v].alias.is_valid()) note_bytes(name_of(Operand::of_vreg(Role::Use, ir::VRegId(v))));
    plan_.operands.reserve(after_.operands.size() + before_.operands.size() / 4);
    plan_.steps.reserve(after_.insts.size() + after_.insts.size() / 4);
    find_repeated();
    for (std::size_t b = 0; b < after_.blocks.size() && reason_.empty(); ++b) block(BlockId(b));
    pred_of_.assign(after_.blocks.size(), kNoIndex);
    ways_.resize(after_.blocks.size());
    for (std::size_t b = 0; b < before_.blocks.size() && reason_.empty(); ++b) edges(BlockId(b));
    if (!reason_.empty()) return std::unexpected(reason_);
    flow();
    entry();
    find_live(plan_);
    return std::move(plan_);
  }

 private:
  // An instruction that some remat repeats.
  struct Repeated {
    std::uint32_t id = 0;
    std::uint32_t index = kNoIndex;        // before
    Value constant = kJunk;                // without register uses: its value, for ever
    std::uint32_t ghost = 0;               // else: first location of its result
    std::vector<std::uint32_t> snapshots;  // first name of each operand's snapshot, by operand
    std::uint32_t words = 0;
  };

  void unreadable(std::string why) {
    if (reason_.empty()) reason_ = std::move(why);
  }
  void unreadable(const Inst& i, std::string_view why) { unreadable(fmt::format("#{}: {}", i.id.value, why)); }

  // --- remats -----------------------------------------------------------------------------------------------------
  void find_repeated() {
    for (const Inst& i : after_.insts)
      if (i.op == Op::Remat) repeated_.emplace_back().id = i.ref.value;
    if (repeated_.empty()) return;
    std::sort(repeated_.begin(), repeated_.end(), [](const Repeated& a, const Repeated& b) { return a.id < b.id; });
    repeated_.erase(
        std::unique(repeated_.begin(), repeated_.end(), [](const Repeated& a, const Repeated& b) { return a.id == b.id; }),
        repeated_.end());
    for (std::size_t k = 0; k < before_.insts.size(); ++k) {
      Repeated* r = repeated(before_.insts[k].id.value);
      if (r == nullptr) continue;
      r->index = static_cast<std::uint32_t>(k);
      const auto ops = before_.operands_of(before_.insts[k]);
      if (ops.empty() || !ops[0].is_vreg()) continue;
      r->words = plan_.names.of_operand(ops[0]).cells();
      if (std::none_of(ops.begin(), ops.end(), [](const Operand& op) { return op.is_vreg() && op.reads(); })) {
        r->constant = plan_.values.add_leaves(ValueKind::Constant, r->index, r->words);
        continue;
      }
      r->ghost = plan_.num_locations;
      plan_.num_locations += r->words;
      plan_.is_byte_location.resize(plan_.num_locations, plan_.names.of_operand(ops[0]).step == 1 ? 1 : 0);
      r->snapshots.assign(ops.size(), 0);
      for (std::size_t o = 0; o < ops.size(); ++o) {
        if (!ops[o].is_vreg() || !ops[o].reads()) continue;
        r->snapshots[o] = plan_.num_names;
        const Place of = plan_.names.of_operand(ops[o]);
        plan_.num_names += of.cells();
        plan_.bytes_of_name.resize(plan_.num_names, 0xF);
        note_bytes(snapshot_place(of, r->snapshots[o]));
      }
    }
  }
  // A snapshot is a copy of the words that the operand touches, at the same offset.
  static Place snapshot_place(const Place& of, std::uint32_t first) { return {first, of.size, of.offset, of.step}; }

  Repeated* repeated(std::uint32_t id) {
    const auto it = std::lower_bound(repeated_.begin(), repeated_.end(), id,
                                     [](const Repeated& r, std::uint32_t wanted) { return r.id < wanted; });
    return it != repeated_.end() && it->id == id ? &*it : nullptr;
  }
  static bool may_be_repeated(const Inst& i) {
    return i.has(ir::kRematerialisable) && !i.has(ir::kMemWrite) && !i.has(ir::kBarrier) &&
           (!i.has(ir::kMemRead) || i.has(ir::kReadOnly));
  }

  void note_bytes(const Place& p) {
    for (std::uint32_t k = 0; k < p.cells(); ++k) {
      unsigned bytes = 0;
      for (std::uint32_t i = 0; i < 4; ++i)
        if (4 * k + i >= p.offset && 4 * k + i < p.offset + p.size) bytes |= 1u << i;
      plan_.bytes_of_name.at(p.cell + k) = p.step == 1 ? kOneByte : static_cast<std::uint8_t>(bytes);
    }
  }

  // --- places -----------------------------------------------------------------------------------------------------
  [[nodiscard]] Place name_of(const Operand& op) const { return plan_.names.of_operand(op); }
  Place own_place(const Inst& i, const Operand& op) {
    const Place p = op.is_preg() ? plan_.locations.of_operand(op) : Place{};
    if (p.size == 0) unreadable(i, "an operand is in no register");
    return p;
  }
  // Where an operand of `want` would be if its root's home were `home`.
  [[nodiscard]] Place placed_at(const Operand& want, PReg home) const {
    Place p = plan_.locations.of_operand(Operand::of_preg(want.role, home));
    const ir::Storage s = before_.storage(want);
    if (p.size == 0 || p.step == 1 || (s.offset == 0 && s.size == before_.vreg(s.root).bytes())) return p;
    p.cell += s.offset / 4u;
    p.offset = s.offset % 4u;
    p.size = s.size;
    return p;
  }
  Place hardware_place(const Inst& i, std::span<const Operand> want, std::span<const Operand> have, std::size_t k, bool any_tied) {
    std::size_t def = want[k].is_tied() ? k : want.size();
    const std::size_t use = want[k].is_tied() ? want[k].tied : k;
    if (any_tied && want[k].role == Role::Use)
      for (std::size_t d = 0; d < want.size() && want[d].writes(); ++d)
        if (want[d].is_tied() && want[d].tied == k) def = d;
    PReg fixed = before_.fixed_of(want[def == want.size() ? k : def]);
    if (def != want.size() && !fixed.is_valid() && use < want.size()) fixed = before_.fixed_of(want[use]);
    return fixed.is_valid() ? placed_at(want[k], fixed) : own_place(i, have[def == want.size() ? k : def]);
  }

  // --- steps ------------------------------------------------------------------------------------------------------
  Step& begin_step(StepKind kind, std::uint32_t after, std::uint32_t original) {
    Step s;
    s.kind = kind;
    s.inst = after;
    s.original = original;
    s.first = static_cast<std::uint32_t>(plan_.operands.size());
    plan_.steps.push_back(s);
    return plan_.steps.back();
  }
  StepOperand& add_operand() {
    ++plan_.steps.back().count;
    return plan_.operands.emplace_back();
  }
  // Call once for each side that has a guard.
  StepOperand& guard() {
    Step& s = plan_.steps.back();
    if (s.guard == kNoIndex) {
      s.guard = static_cast<std::uint32_t>(plan_.operands.size());
      s.opaque = opaque_of(s);
      add_operand().role = Role::Guard;
    }
    return plan_.operands[s.guard];
  }
  // Both steps of an original copy share theirs.
  Value opaque_of(const Step& s) {
    const std::size_t k = plan_.steps.size();
    if (k >= 2 && s.original != kNoIndex && plan_.steps[k - 2].original == s.original && plan_.steps[k - 2].guard != kNoIndex)
      return plan_.steps[k - 2].opaque;
    return plan_.values.add_leaves(ValueKind::Opaque, 0);
  }

  void block(BlockId b) {
    const auto begin = static_cast<std::uint32_t>(plan_.steps.size());
    std::size_t next = 0, end = 0;
    if (b.index() < before_.blocks.size()) {
      next = before_.block(b).first_inst;
      end = next + before_.block(b).num_insts;
    }
    const ir::Block& blk = after_.block(b);
    for (std::uint32_t k = blk.first_inst; k < blk.first_inst + blk.num_insts; ++k) {
      const Inst& i = after_.insts[k];
      if (i.is_inserted()) {
        inserted(k);
        continue;
      }
      if (next == end || before_.insts[next].id != i.id) {
        unreadable(fmt::format("block b{} does not hold its original instructions in order", b.value));
        return;
      }
      original(static_cast<std::uint32_t>(next++), k);
    }
    if (next != end) unreadable(fmt::format("block b{} does not hold all its original instructions", b.value));
    plan_.blocks.push_back({begin, static_cast<std::uint32_t>(plan_.steps.size())});
  }

  void original(std::uint32_t b, std::uint32_t a) {
    const Inst &want = before_.insts[b], &have = after_.insts[a];
    if (want.is_phi()) return;  // on the edges
    if (want.is_copy()) {
      // In this order: the guard is read before the copy changes it.
      if (!have.is_deleted()) after_move(a, b);
      begin_step(StepKind::Rename, a, b);
      moves(before_, want, true);
      return;
    }
    Repeated* r = repeated_.empty() ? nullptr : repeated(want.id.value);
    if (r != nullptr && !r->snapshots.empty()) snapshot(*r, a);
    begin_step(want.op == Op::Pack || want.op == Op::Unpack ? StepKind::Gather : StepKind::Operate, a, b).is_ret =
        want.op == Op::Ret;
    both_operands(b, a);
    if (r == nullptr) return;
    StepOperand* def = nullptr;
    for (std::uint32_t k = 0; k < plan_.steps.back().count && def == nullptr; ++k) {
      StepOperand& op = plan_.operands[plan_.steps.back().first + k];
      if (op.role == Role::Def) def = &op;
    }
    if (def == nullptr) return;
    if (r->constant != kJunk) {
      def->leaf = r->constant;
    } else if (!r->snapshots.empty()) {
      const Value leaf = def->leaf;
      begin_step(StepKind::Remember, a, b);
      StepOperand& ghost = add_operand();
      ghost.leaf = leaf;
      ghost.loc = {r->ghost, r->words * 4, 0, 4};
    }
  }

  void snapshot(const Repeated& r, std::uint32_t a) {
    begin_step(StepKind::Snapshot, a, r.index);
    const auto ops = before_.operands_of(before_.insts[r.index]);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_vreg() || !ops[k].reads()) continue;
      StepOperand& op = add_operand();
      op.loc = name_of(ops[k]);
      op.name = snapshot_place(op.loc, r.snapshots[k]);
    }
  }

  // The operands of an original instruction. Guards come last.
  void both_operands(std::uint32_t b, std::uint32_t a) {
    const auto want = before_.operands_of(before_.insts[b]);
    const Inst& inst = after_.insts[a];
    const auto have = after_.operands_of(inst);
    const bool names_only = inst.is_deleted();
    if (!names_only && want.size() != have.size()) return unreadable(inst, "the number of operands has changed");
    const bool any_tied = std::any_of(want.begin(), want.end(), [](const Operand& op) { return op.is_tied(); });
    for (std::size_t k = 0; k < want.size() && reason_.empty(); ++k) {
      const Operand& w = want[k];
      if (!names_only && w.role != have[k].role) return unreadable(inst, "the role of an operand has changed");
      if (w.role == Role::Clobber) {
        if (names_only) continue;
        StepOperand& op = add_operand();
        op.role = w.role;
        op.loc = own_place(inst, w);
        continue;
      }
      if (!w.is_vreg()) continue;
      StepOperand& op = w.role == Role::Guard ? guard() : add_operand();
      op.role = w.role;
      op.number = static_cast<std::uint16_t>(k);
      op.is_early = w.is_early_clobber();
      op.is_negated_name = w.is_negated();
      op.name = name_of(w);
      op.is_wordwise = covers_its_words(op.name);
      op.leaf = w.writes() ? plan_.values.add_leaves(ValueKind::Def, b, words_of(op.name.size)) : kJunk;
      if (names_only) continue;
      op.is_negated_loc = have[k].is_negated();
      const Place at = hardware_place(inst, want, have, k, any_tied);
      StepOperand& again = plan_.operands[w.role == Role::Guard ? plan_.steps.back().guard : plan_.operands.size() - 1];
      again.loc = at;
      if (at.size < again.name.size) unreadable(inst, "an operand is narrower than before");
    }
    if (!names_only) mark_contested();
  }
  void mark_contested() {
    const Step& s = plan_.steps.back();
    spans_.clear();
    for (std::uint32_t k = s.first; k < s.first + s.count; ++k) {
      const StepOperand& op = plan_.operands[k];
      if (op.role != Role::Def && op.role != Role::DefUse) continue;
      const std::uint32_t begin = op.loc.cell * 4 + op.loc.offset;
      spans_.push_back({begin, op.loc.step == 1 ? begin + op.loc.size * 4 : begin + op.loc.size, k});
    }
    if (spans_.size() < 2) return;
    std::sort(spans_.begin(), spans_.end(),
              [](const Span& x, const Span& y) { return std::pair(x.begin, x.operand) < std::pair(y.begin, y.operand); });
    std::size_t furthest = 0;
    for (std::size_t k = 1; k < spans_.size(); ++k) {
      if (spans_[k].begin < spans_[furthest].end)
        plan_.operands[spans_[k].operand].is_contested = plan_.operands[spans_[furthest].operand].is_contested = true;
      if (spans_[k].end > spans_[furthest].end) furthest = k;
    }
  }
  static std::uint32_t words_of(std::uint32_t bytes) { return (bytes + 3) / 4; }
  // The name's bytes are whole words, a narrow vreg's single word included.
  [[nodiscard]] bool covers_its_words(const Place& p) const {
    if (p.step == 1) return true;
    if (p.offset != 0 || p.size == 0) return false;
    return p.size % 4 == 0 || plan_.names.bytes(p.cell + p.size / 4) <= p.size % 4;
  }

  // Pairs of a copy, on one side.
  void moves(const Function& f, const Inst& i, bool of_names) {
    const auto ops = f.operands_of(i);
    std::size_t defs = 0;
    while (defs < ops.size() && ops[defs].writes()) ++defs;
    if (ops.size() < 2 * defs) return unreadable(i, "a copy without uses");
    for (std::size_t k = 0; k < defs && reason_.empty(); ++k) {
      if (!ops[defs + k].is_register()) return unreadable(i, "a copy of something that is no register");
      const Place to = of_names ? name_of(ops[k]) : own_place(i, ops[k]);
      const Place from = of_names ? name_of(ops[defs + k]) : own_place(i, ops[defs + k]);
      add_move(to, from, of_names);
    }
    move_guard(i, ops, of_names);
  }
  void add_move(const Place& to, const Place& from, bool of_names) {
    const bool are_words = to.step == from.step && to.offset == 0 && from.offset == 0 && to.size == from.size &&
                           (of_names ? covers_its_words(to) : to.step == 1 || to.size % 4 == 0);
    add_operand() = {.role = Role::Def, .is_wordwise = are_words, .name = to, .loc = from};
  }
  void move_guard(const Inst& i, std::span<const Operand> ops, bool of_names) {
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (ops[k].role != Role::Guard) continue;
      const Place at = of_names ? name_of(ops[k]) : own_place(i, ops[k]);
      StepOperand& op = guard();
      op.number = static_cast<std::uint16_t>(k);
      (of_names ? op.name : op.loc) = at;
      (of_names ? op.is_negated_name : op.is_negated_loc) = ops[k].is_negated();
    }
  }

  // What became of an original copy, or an inserted copy, spill or refill.
  void after_move(std::uint32_t a, std::uint32_t original) {
    const Inst& i = after_.insts[a];
    begin_step(StepKind::Move, a, original);
    const auto ops = after_.operands_of(i);
    if (i.op == Op::Copy) {
      moves(after_, i, false);
    } else if ((i.op == Op::Spill || i.op == Op::Refill) && ops.size() >= 2) {
      const Place reg = own_place(i, ops[0]);
      const Place slot = ops[1].is_slot() ? plan_.locations.of_slot(ops[1], reg.size) : Place{};
      if (slot.size == 0) return unreadable(i, "no such slot");
      if (i.op == Op::Spill) add_move(slot, reg, false);
      else add_move(reg, slot, false);
      move_guard(i, ops, false);
    } else {
      return unreadable(i, "a copy has become something else");
    }
    if (original == kNoIndex) return;
    // A copy's guard is a use like any other.
    for (const Operand& op : before_.operands_of(before_.insts[original])) {
      if (op.role != Role::Guard) continue;
      StepOperand& g = guard();
      g.name = name_of(op);
      g.is_negated_name = op.is_negated();
    }
  }

  void inserted(std::uint32_t a) {
    const Inst& i = after_.insts[a];
    switch (i.op) {
      case Op::Copy:
      case Op::Spill:
      case Op::Refill: return after_move(a, kNoIndex);
      case Op::P2R: return pack(StepKind::ToPack, a, true);
      case Op::BitSpill: return pack(StepKind::ToPack, a, false);
      case Op::R2P: return pack(StepKind::FromPack, a, true);
      case Op::BitRefill: return pack(StepKind::FromPack, a, false);
      case Op::Bra: return;
      case Op::Remat: return remat(a);
      default: unreadable(i, "an inserted instruction of a kind that is not inserted");
    }
  }

  void pack(StepKind kind, std::uint32_t a, bool is_numbered) {
    const Inst& i = after_.insts[a];
    const auto ops = after_.operands_of(i);
    begin_step(kind, a, kNoIndex);
    const Role pack_role = kind == StepKind::ToPack ? Role::DefUse : Role::Use,
               role = kind == StepKind::ToPack ? Role::Use : Role::Def;
    Place at;
    std::uint64_t bit = 0;
    for (const Operand& op : ops) {
      if (op.is_preg() && op.role == pack_role) at = own_place(i, op);
      if (op.kind == ir::OperandKind::Imm) bit = static_cast<std::uint64_t>(op.imm());
    }
    add_operand().loc = at;
    if (at.size != 4 || at.offset != 0) return unreadable(i, "a pack is a register of 32 bits");
    for (const Operand& op : ops) {
      if (!op.is_preg() || op.role != role) continue;
      const std::uint64_t k = is_numbered ? op.preg().first : bit;
      if (k > 31) return unreadable(i, "a pack has 32 bits");
      const Place p = own_place(i, op);
      StepOperand& predicate = add_operand();
      predicate.role = role;
      predicate.loc = p;
      predicate.number = static_cast<std::uint16_t>(k);
      predicate.is_negated_loc = op.is_negated();
    }
    move_guard(i, ops, false);
  }

  void remat(std::uint32_t a) {
    const Inst& i = after_.insts[a];
    const Repeated* r = repeated(i.ref.value);
    if (r == nullptr || r->index == kNoIndex) return unreadable(i, "a remat of nothing");
    const Inst& original = before_.insts[r->index];
    const auto want = before_.operands_of(original), have = after_.operands_of(i);
    if (want.size() != have.size()) return unreadable(i, "the number of operands has changed");
    Step& s = begin_step(StepKind::Remat, a, r->index);
    s.is_illegal = !may_be_repeated(original);
    for (std::size_t k = 0; k < want.size() && reason_.empty(); ++k) {
      if (want[k].role != have[k].role) return unreadable(i, "the role of an operand has changed");
      if (!want[k].is_vreg()) {
        // A number or a name that differs makes it another operation.
        const bool same =
            want[k].kind == have[k].kind &&
            (want[k].kind == ir::OperandKind::Symbol ? before_.symbols[want[k].symbol()] == after_.symbols[have[k].symbol()]
                                                     : want[k].kind != ir::OperandKind::Imm || want[k].imm() == have[k].imm());
        if (!same) plan_.steps.back().is_illegal = true;
        continue;
      }
      const Place at = hardware_place(i, want, have, k, false);
      StepOperand& op = add_operand();
      op.role = want[k].role;
      op.number = static_cast<std::uint16_t>(k);
      op.is_negated_name = want[k].is_negated();
      op.is_negated_loc = have[k].is_negated();
      op.loc = at;
      if (want[k].writes()) {
        op.leaf = r->constant;
        op.name = {r->ghost, r->words * 4, 0, 4};
      } else {
        op.name = snapshot_place(name_of(want[k]), r->snapshots.empty() ? 0 : r->snapshots[k]);
        if (at.size < op.name.size) unreadable(i, "an operand is narrower than before");
      }
    }
  }

  // --- edges ------------------------------------------------------------------------------------------------------
  void add_edge(std::uint32_t from, std::uint32_t to, BlockId phi_pred) {
    for (const FlowEdge& e : ways_[from])
      if (e.to == to) return;
    FlowEdge e{from, to, kNoIndex, kNoIndex};
    if (to < before_.blocks.size()) {
      e.renames = phis(before_, BlockId(to), phi_pred, phi_pred, true);
      e.moves = phis(after_, BlockId(to), BlockId(from), phi_pred, false);
    }
    ways_[from].push_back(e);
  }
  void edges(BlockId b) {
    const auto want = before_.successors(b), have = after_.successors(b);
    if (want.size() != have.size()) return unreadable(fmt::format("block b{} has other successors than before", b.value));
    const auto branch = static_cast<std::uint32_t>(&after_.terminator(b) - after_.insts.data());
    for (std::size_t k = 0; k < want.size(); ++k) {
      path_.assign(1, b.value);
      for (BlockId at = have[k]; at.index() >= before_.blocks.size();) {
        path_.push_back(at.value);
        const auto next = after_.successors(at);
        if (next.size() != 1 || path_.size() > after_.blocks.size()) break;
        at = next[0];
      }
      const auto last = after_.successors(BlockId(path_.back()));
      const BlockId arrives = path_.size() == 1 ? have[k] : last.size() == 1 ? last[0] : BlockId();
      if (arrives != want[k]) {
        plan_.astray.push_back({branch, want[k].value});
        continue;
      }
      for (std::size_t n = 1; n < path_.size(); ++n) {
        std::uint32_t& pred = pred_of_[path_[n]];
        if (pred != kNoIndex && pred != b.value) return unreadable(fmt::format("b{} stands on two edges", path_[n]));
        pred = b.value;
        add_edge(path_[n - 1], path_[n], b);
      }
      add_edge(path_.back(), want[k].value, b);
    }
  }
  // One parallel step for the phis of `to`, kNoIndex where it has none (left).
  std::uint32_t phis(const Function& f, BlockId to, BlockId from, BlockId or_from, bool of_names) {
    const auto insts = f.insts_of(to);
    if (!insts[0].is_phi()) return kNoIndex;
    const auto step = static_cast<std::uint32_t>(plan_.steps.size());
    begin_step(of_names ? StepKind::Rename : StepKind::Move, kNoIndex, kNoIndex);
    std::size_t hint = 0;  // phis of one block mostly name their predecessors in one order
    for (const Inst& i : insts) {
      if (!i.is_phi()) break;
      if (i.is_deleted() || i.is_inserted()) continue;
      const auto incoming = f.targets_of(i);
      const auto find = [&](BlockId wanted) {
        if (hint >= incoming.size() || incoming[hint] != wanted)
          hint = static_cast<std::size_t>(std::find(incoming.begin(), incoming.end(), wanted) - incoming.begin());
        return hint < incoming.size();
      };
      const auto ops = f.operands_of(i);
      if ((!find(from) && !find(or_from)) || ops.size() <= hint + 1) continue;
      if (of_names) add_move(name_of(ops[0]), name_of(ops[hint + 1]), true);
      else add_move(own_place(i, ops[0]), own_place(i, ops[hint + 1]), false);
    }
    return step;
  }

  // Reverse postorder of what can be reached, and the edges from there.
  void flow() {
    std::vector<std::uint8_t> is_seen(after_.blocks.size(), 0);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack;
    if (!after_.blocks.empty()) stack.emplace_back(0, 0);
    if (!is_seen.empty()) is_seen[0] = 1;
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      if (next == ways_[b].size()) {
        plan_.order.push_back(b);
        stack.pop_back();
        continue;
      }
      const std::uint32_t to = ways_[b][next++].to;
      if (is_seen[to] != 0) continue;
      is_seen[to] = 1;
      stack.emplace_back(to, 0);
    }
    std::reverse(plan_.order.begin(), plan_.order.end());
    plan_.num_preds.assign(after_.blocks.size(), 0);
    for (std::size_t b = 0; b < ways_.size(); ++b) {
      const auto begin = static_cast<std::uint32_t>(plan_.edges.size());
      if (is_seen[b] != 0) {
        for (const FlowEdge& e : ways_[b]) {
          plan_.edges.push_back(e);
          ++plan_.num_preds[e.to];
        }
      }
      plan_.edges_of.push_back({begin, static_cast<std::uint32_t>(plan_.edges.size())});
    }
  }

  // --- what holds something at entry ------------------------------------------------------------------------------
  void entry() {
    for (std::size_t v = 0; v < before_.vregs.size(); ++v) {
      const ir::VReg& reg = before_.vregs[v];
      if ((reg.flags & ir::kVRegArchitectural) == 0 || !reg.fixed.is_valid() || reg.alias.is_valid()) continue;
      const Place name = name_of(Operand::of_vreg(Role::Use, ir::VRegId(v)));
      const Place loc = plan_.locations.of_operand(Operand::of_preg(Role::Use, reg.fixed));
      plan_.initial.push_back({name, loc, plan_.values.add_leaves(ValueKind::Saved, 0, name.cells())});
    }
    std::vector<std::uint8_t> is_written(plan_.num_locations, 0);
    const auto mark = [&](const Place& p) {
      for (std::uint32_t k = 0; k < p.cells(); ++k) is_written[p.cell + k] = 1;
    };
    for (const Step& s : plan_.steps)
      for (const StepOperand& op : plan_.operands_of(s)) {
        if (s.kind == StepKind::Move && op.role == Role::Def) mark(op.name);
        else if (s.kind == StepKind::Operate || s.kind == StepKind::Gather || s.kind == StepKind::FromPack ||
                 s.kind == StepKind::Remat || s.kind == StepKind::ToPack) {
          if (op.role != Role::Use && op.role != Role::Guard) mark(op.loc);
          if (s.kind == StepKind::ToPack && &op == plan_.operands_of(s).data()) mark(op.loc);
        }
      }
    for (const PReg r : case_.prepared.preserved()) {
      const std::uint32_t loc = plan_.locations.of_unit(r.file, r.first);
      if (is_written[loc] != 0) plan_.saved.push_back({r, loc, plan_.values.add_leaves(ValueKind::Saved, loc)});
    }
  }

  const Case& case_;
  const Function& before_;
  const Function& after_;
  Plan plan_;
  std::string reason_;
  std::vector<Repeated> repeated_;  // by id
  std::vector<std::vector<FlowEdge>> ways_;
  std::vector<std::uint32_t> pred_of_;  // of each edge block: the original block that it comes from
  std::vector<std::uint32_t> path_;
  struct Span {
    std::uint32_t begin, end, operand;
  };
  std::vector<Span> spans_;
};

}  // namespace

std::expected<Plan, std::string> make_plan(const Case& c) { return Planner(c).run(); }

}  // namespace regduel::oracles::symbolic
