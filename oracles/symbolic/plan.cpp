// Decodes a pair of programs for the symbolic judge.
//
// An operand of an original instruction is in the register where the *hardware* has it: a fixed operand in its fixed register,
// whatever the program after says, and a tied pair in the register of the def.
// Tested by plan_test.cpp.

#include "oracles/symbolic/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "oracles/pair/match.h"
#include "oracles/symbolic/constants.h"

namespace regduel::oracles::symbolic {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;

void note_bytes(std::vector<std::uint8_t>& bytes_of_name, const Place& p) {
  for (std::uint32_t k = 0; k < p.cells(); ++k) bytes_of_name[p.cell + k] = bytes_at(p, k);
}

// After the first reason why the pair is unreadable, decoding goes on to its end with empty places.
class Planner {
 public:
  explicit Planner(const Case& c) : case_(c), before_(c.before), after_(c.after), plan_(c) {}

  std::expected<Plan, std::string> run() {
    if (after_.blocks.size() < before_.blocks.size()) return std::unexpected("the program after has lost blocks");
    plan_.is_byte_location.assign(plan_.locations.size(), 0);
    for (const ir::RegFile file : {ir::RegFile::P, ir::RegFile::UP})
      for (int u = 0; u < ir::kMaxUnits; ++u) plan_.is_byte_location[plan_.locations.of_unit(file, u)] = 1;
    plan_.operands.reserve(after_.operands.size() + before_.operands.size() / 4);
    plan_.steps.reserve(after_.insts.size() + after_.insts.size() / 4);
    find_repeated();
    for (std::size_t b = 0; b < after_.blocks.size() && !unreadable_.is_set(); ++b) block(BlockId(b));
    pred_of_.assign(after_.blocks.size(), kNoIndex);
    ways_.resize(after_.blocks.size());
    for (std::size_t b = 0; b < before_.blocks.size() && !unreadable_.is_set(); ++b) edges(BlockId(b));
    if (unreadable_.is_set()) return std::unexpected(unreadable_.why());
    flow();
    entry();
    find_live(plan_, case_.prepared.part<NamesBefore>());
    return std::move(plan_);
  }

 private:
  // An instruction that some remat repeats.
  struct Repeated {
    std::uint32_t id = 0;
    std::uint32_t index = kNoIndex;        // before
    Value constant = kBottom;              // of a constant instruction: its value, for ever
    std::uint32_t ghost = 0;               // else: first location of its result
    std::vector<std::uint32_t> snapshots;  // first name of each operand's snapshot, by operand
    std::uint32_t words = 0;
  };

  // --- remats -----------------------------------------------------------------------------------------------------
  void find_repeated() {
    std::set<std::uint32_t> ids;
    for (const Inst& i : after_.insts)
      if (i.op == Op::Remat) ids.insert(i.ref.value);
    if (ids.empty()) return;
    constants_ = find_constants(before_, plan_.names);
    add_sources(ids);
    for (const std::uint32_t id : ids) repeated_.emplace_back().id = id;
    for (std::size_t k = 0; k < before_.insts.size(); ++k) {
      Repeated* r = repeated(before_.insts[k].id.value);
      if (r == nullptr) continue;
      r->index = static_cast<std::uint32_t>(k);
      const auto ops = before_.operands_of(before_.insts[k]);
      if (ops.empty() || !ops[0].is_vreg()) continue;
      r->words = plan_.names.of_operand(ops[0]).cells();
      const bool reads = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.is_vreg() && op.reads(); });
      if (!reads || constants_.is_constant[r->index]) {
        r->constant = plan_.values.add_leaves(ValueKind::Constant, r->index, r->words);
        if (!reads) continue;
      } else {
        r->ghost = plan_.num_locations();
        plan_.is_byte_location.resize(r->ghost + r->words, plan_.names.of_operand(ops[0]).step == 1 ? 1 : 0);
      }
      r->snapshots.assign(ops.size(), 0);
      for (std::size_t o = 0; o < ops.size(); ++o) {
        if (!ops[o].is_vreg() || !ops[o].reads()) continue;
        r->snapshots[o] = plan_.num_names();
        const Place of = snapshot_place(plan_.names.of_operand(ops[o]), r->snapshots[o]);
        for (std::uint32_t w = 0; w < of.cells(); ++w) plan_.bytes_of_name.push_back(bytes_at(of, w));
      }
    }
  }
  // The instructions that define the uses of a repeated constant instruction must be known as constants too.
  void add_sources(std::set<std::uint32_t>& ids) {
    std::vector<std::uint32_t> sources;
    for (std::uint32_t k = 0; k < before_.insts.size(); ++k) {
      if (!constants_.is_constant[k] || !ids.contains(before_.insts[k].id.value)) continue;
      for (const Operand& op : before_.operands_of(before_.insts[k]))
        if (op.is_vreg() && op.role == Role::Use)
          sources.push_back(before_.insts[constants_.sole_def[before_.root(op.vreg()).index()]].id.value);
    }
    ids.insert(sources.begin(), sources.end());
  }
  // A snapshot is a copy of the words that the operand touches, at the same offset.
  static Place snapshot_place(const Place& of, std::uint32_t first) { return {first, of.size, of.offset, of.step}; }

  Repeated* repeated(std::uint32_t id) {
    const auto it = std::lower_bound(repeated_.begin(), repeated_.end(), id,
                                     [](const Repeated& r, std::uint32_t wanted) { return r.id < wanted; });
    return it != repeated_.end() && it->id == id ? &*it : nullptr;
  }

  // --- places -----------------------------------------------------------------------------------------------------
  [[nodiscard]] Place name_of(const Operand& op) const { return plan_.names.of_operand(op); }
  Place own_place(const Inst& i, const Operand& op) {
    const Place p = op.is_preg() ? plan_.locations.of_operand(op) : Place{};
    if (p.size == 0) unreadable_.because(i, "an operand is in no register");
    return p;
  }
  Place hardware_place(const Inst& i, std::span<const Operand> want, std::span<const Operand> have, std::size_t k) {
    const HardwareHome home = hardware_home(before_, want, k);
    return home.is_fixed ? plan_.locations.of_bytes(home.bytes) : own_place(i, have[home.operand]);
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
  // Both steps of an original copy share one token.
  Value opaque_of(const Step& s) {
    const std::size_t k = plan_.steps.size();
    if (k >= 2 && s.original != kNoIndex && plan_.steps[k - 2].original == s.original && plan_.steps[k - 2].guard != kNoIndex)
      return plan_.steps[k - 2].opaque;
    return plan_.values.add_leaves(ValueKind::Opaque, 0, 2);
  }

  void block(BlockId b) {
    const auto begin = static_cast<std::uint32_t>(plan_.steps.size());
    match_block(
        before_, after_, b, unreadable_, [&](std::uint32_t k, std::uint32_t a) { original(k, a); },
        [&](std::uint32_t a) { inserted(a); });
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
    begin_step(ir::moves_pieces(want.op) ? StepKind::Gather : StepKind::Operate, a, b).is_ret = want.op == Op::Ret;
    both_operands(b, a);
    if (r == nullptr) return;
    StepOperand* def = nullptr;
    for (std::uint32_t k = 0; k < plan_.steps.back().count && def == nullptr; ++k) {
      StepOperand& op = plan_.operands[plan_.steps.back().first + k];
      if (op.role == Role::Def) def = &op;
    }
    if (def == nullptr) return;
    if (r->constant != kBottom) {
      def->leaf = r->constant;
    } else {
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
    if (!names_only && want.size() != have.size()) return unreadable_.because(inst, "the number of operands has changed");
    for (std::size_t k = 0; k < want.size() && !unreadable_.is_set(); ++k) {
      const Operand& w = want[k];
      if (!names_only && w.role != have[k].role) return unreadable_.because(inst, "the role of an operand has changed");
      if (w.role == Role::Clobber) {
        if (names_only) continue;
        StepOperand& op = add_operand();
        op.role = w.role;
        op.loc = own_place(inst, w);
        plan_.steps.back().has_clobbers = true;
        continue;
      }
      if (!w.is_vreg()) continue;
      StepOperand& op = w.role == Role::Guard ? guard() : add_operand();
      op.role = w.role;
      op.number = static_cast<std::uint16_t>(k);
      op.is_early = w.is_early_clobber();
      if (op.is_early) plan_.steps.back().has_clobbers = true;
      op.is_negated_name = w.is_negated();
      op.name = name_of(w);
      op.is_wordwise = covers_its_words(op.name);
      op.leaf = w.writes() ? new_leaves(op.name, b) : kBottom;
      if (names_only) continue;
      op.is_negated_loc = have[k].is_negated();
      const Place at = hardware_place(inst, want, have, k);
      StepOperand& again = plan_.operands[w.role == Role::Guard ? plan_.steps.back().guard : plan_.operands.size() - 1];
      again.loc = at;
      if (at.size < again.name.size) unreadable_.because(inst, "an operand is narrower than before");
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
  // New values for the words of a name that instruction `b` defines.
  Value new_leaves(const Place& name, std::uint32_t b) {
    return name.step == 1 ? plan_.values.add_leaves(ValueKind::Def, b)
                          : plan_.values.add_leaves_of_bytes(ValueKind::Def, b, name.size);
  }
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
    if (ops.size() < 2 * defs) return unreadable_.because(i, "a copy without uses");
    for (std::size_t k = 0; k < defs && !unreadable_.is_set(); ++k) {
      if (!ops[defs + k].is_register()) return unreadable_.because(i, "a copy of something that is no register");
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
    for (const Operand& op : ops) {
      if (op.role != Role::Guard) continue;
      const Place at = of_names ? name_of(op) : own_place(i, op);
      StepOperand& g = guard();
      (of_names ? g.name : g.loc) = at;
      (of_names ? g.is_negated_name : g.is_negated_loc) = op.is_negated();
    }
  }

  // An original copy that was kept or became a spill or a refill; or an inserted copy, spill or refill.
  void after_move(std::uint32_t a, std::uint32_t original) {
    const Inst& i = after_.insts[a];
    begin_step(StepKind::Move, a, original);
    const auto ops = after_.operands_of(i);
    if (i.op == Op::Copy) {
      moves(after_, i, false);
    } else if ((i.op == Op::Spill || i.op == Op::Refill) && ops.size() >= 2) {
      const Place reg = own_place(i, ops[0]);
      const Place slot = ops[1].is_slot() ? plan_.locations.of_slot(ops[1], reg.size) : Place{};
      if (slot.size == 0) return unreadable_.because(i, "no such slot");
      if (i.op == Op::Spill) add_move(slot, reg, false);
      else add_move(reg, slot, false);
      move_guard(i, ops, false);
    } else {
      return unreadable_.because(i, "a copy has become something else");
    }
    destroyed(i, ops, original);
    if (original == kNoIndex) return;
    // The name of the original guard decides whether the register of the guard may stand for it.
    for (const Operand& op : before_.operands_of(before_.insts[original]))
      if (op.role == Role::Guard) guard().name = name_of(op);
  }
  // The registers that a move destroys: clobbers, and early-clobber defs before it reads. The program before says which defs of an
  // original copy are early-clobber.
  void destroyed(const Inst& i, std::span<const Operand> ops, std::uint32_t original) {
    std::span<const Operand> want;
    if (original != kNoIndex && i.op == Op::Copy) want = before_.operands_of(before_.insts[original]);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const bool is_early = ops[k].role == Role::Def && k < want.size() && want[k].is_early_clobber();
      if (!is_early && ops[k].role != Role::Clobber) continue;
      add_operand() = {.role = Role::Clobber, .is_early = is_early, .name = own_place(i, ops[k]), .loc = {}};
      plan_.steps.back().has_clobbers = true;
    }
  }

  void inserted(std::uint32_t a) {
    const Inst& i = after_.insts[a];
    switch (i.op) {
      case Op::Copy:
      case Op::Spill:
      case Op::Refill: return after_move(a, kNoIndex);
      case Op::P2R:
      case Op::BitSpill:
      case Op::R2P:
      case Op::BitRefill: return pack(a);
      case Op::Bra: return;
      case Op::Remat: return remat(a);
      default: unreadable_.because(i, "an inserted instruction of a kind that is not inserted");
    }
  }

  void pack(std::uint32_t a) {
    const Inst& i = after_.insts[a];
    const PackForm form = pack_form(after_, i);
    begin_step(form.is_into_pack ? StepKind::ToPack : StepKind::FromPack, a, kNoIndex);
    const Place at = form.pack == nullptr ? Place{} : own_place(i, *form.pack);
    add_operand().loc = at;
    if (at.size != 4 || at.offset != 0) return unreadable_.because(i, "a pack is a register of 32 bits");
    for (const PackedPredicate& p : form.predicates) {
      if (p.bit > 31) return unreadable_.because(i, "a pack has 32 bits");
      const Place place = own_place(i, *p.predicate);
      StepOperand& predicate = add_operand();
      predicate.role = p.predicate->role;
      predicate.loc = place;
      predicate.number = static_cast<std::uint16_t>(p.bit);
      predicate.is_negated_loc = p.predicate->is_negated();
    }
    move_guard(i, after_.operands_of(i), false);
  }

  void remat(std::uint32_t a) {
    const Inst& i = after_.insts[a];
    const Repeated* r = repeated(i.ref.value);
    if (r == nullptr || r->index == kNoIndex) return unreadable_.because(i, "a remat of nothing");
    const Inst& original = before_.insts[r->index];
    const auto want = before_.operands_of(original), have = after_.operands_of(i);
    if (want.size() != have.size()) return unreadable_.because(i, "the number of operands has changed");
    Step& s = begin_step(StepKind::Remat, a, r->index);
    s.is_illegal = !may_be_repeated(original);
    for (std::size_t k = 0; k < want.size() && !unreadable_.is_set(); ++k) {
      if (want[k].role != have[k].role) return unreadable_.because(i, "the role of an operand has changed");
      if (!want[k].is_vreg()) {
        // A number or a name that differs makes it another operation.
        const bool same =
            want[k].kind == have[k].kind &&
            (want[k].kind == ir::OperandKind::Symbol ? before_.symbols[want[k].symbol()] == after_.symbols[have[k].symbol()]
                                                     : want[k].kind != ir::OperandKind::Imm || want[k].imm() == have[k].imm());
        if (!same) plan_.steps.back().is_illegal = true;
        continue;
      }
      const Place at = hardware_place(i, want, have, k);
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
        if (at.size < op.name.size) unreadable_.because(i, "an operand is narrower than before");
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
    if (want.size() != have.size()) return unreadable_.because(fmt::format("block b{} has other successors than before", b.value));
    const auto branch = static_cast<std::uint32_t>(&after_.terminator(b) - after_.insts.data());
    for (std::size_t k = 0; k < want.size(); ++k) {
      find_path(before_, after_, b, k, path_);
      if (!path_.arrives) {
        plan_.wrong_edges.push_back({branch, want[k].value});
        continue;
      }
      std::uint32_t at = b.value;
      for (const BlockId next : path_.blocks) {
        std::uint32_t& pred = pred_of_[next.index()];
        if (pred != kNoIndex && pred != b.value) return unreadable_.because(fmt::format("b{} stands on two edges", next.value));
        pred = b.value;
        add_edge(at, next.value, b);
        at = next.value;
      }
      add_edge(at, want[k].value, b);
    }
  }
  // One parallel step for the phis of `to`, kNoIndex where it has none (left).
  std::uint32_t phis(const Function& f, BlockId to, BlockId from, BlockId or_from, bool of_names) {
    const auto insts = f.insts_of(to);
    if (!insts[0].is_phi()) return kNoIndex;
    const auto step = static_cast<std::uint32_t>(plan_.steps.size());
    begin_step(of_names ? StepKind::Rename : StepKind::Move, kNoIndex, kNoIndex);
    PhiPredecessor predecessor;
    for (const Inst& i : insts) {
      if (!i.is_phi()) break;
      if (i.is_deleted() || i.is_inserted()) continue;
      const auto incoming = f.targets_of(i);
      std::size_t k = predecessor.find(incoming, from);
      if (k == incoming.size()) k = predecessor.find(incoming, or_from);
      const auto ops = f.operands_of(i);
      if (k == incoming.size() || ops.size() <= k + 1) continue;
      if (of_names) add_move(name_of(ops[0]), name_of(ops[k + 1]), true);
      else add_move(own_place(i, ops[0]), own_place(i, ops[k + 1]), false);
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
    plan_.is_loop_head.assign(after_.blocks.size(), 0);
    std::vector<std::uint8_t> is_behind(after_.blocks.size(), 0);  // in `order`
    for (const std::uint32_t b : plan_.order) {
      is_behind[b] = 1;
      for (const FlowEdge& e : ways_[b])
        if (is_behind[e.to] != 0) plan_.is_loop_head[e.to] = 1;
    }
  }

  // --- architectural vregs and callee-saved registers at entry ----------------------------------------------------
  void entry() {
    for (std::size_t v = 0; v < before_.vregs.size(); ++v) {
      const ir::VReg& reg = before_.vregs[v];
      if (!reg.is_architectural() || !reg.fixed.is_valid() || reg.alias.is_valid()) continue;
      const Place name = name_of(Operand::of_vreg(Role::Use, ir::VRegId(v)));
      const Place loc = plan_.locations.of_operand(Operand::of_preg(Role::Use, reg.fixed));
      plan_.initial.push_back({name, loc, plan_.values.add_leaves(ValueKind::Saved, 0, name.cells())});
    }
    if (case_.prepared.preserved().empty()) return;
    const std::vector<std::uint8_t> is_written = written_locations();
    for (const PReg r : case_.prepared.preserved()) {
      const std::uint32_t loc = plan_.locations.of_unit(r.file, r.first);
      if (is_written[loc] != 0) plan_.saved.push_back({r, loc, plan_.values.add_leaves(ValueKind::Saved, loc)});
    }
  }
  [[nodiscard]] std::vector<std::uint8_t> written_locations() const {
    std::vector<std::uint8_t> is_written(plan_.num_locations(), 0);
    const auto mark = [&](const Place& p) { std::fill_n(is_written.begin() + p.cell, p.cells(), std::uint8_t{1}); };
    for (const Step& s : plan_.steps)
      for (const StepOperand& op : plan_.operands_of(s)) {
        if (s.kind == StepKind::Move && op.role != Role::Guard) mark(op.name);
        else if (s.kind == StepKind::Operate || s.kind == StepKind::Gather || s.kind == StepKind::FromPack ||
                 s.kind == StepKind::Remat || s.kind == StepKind::ToPack) {
          if (op.role != Role::Use && op.role != Role::Guard) mark(op.loc);
          if (s.kind == StepKind::ToPack && &op == plan_.operands_of(s).data()) mark(op.loc);
        }
      }
    return is_written;
  }

  const Case& case_;
  const Function& before_;
  const Function& after_;
  Plan plan_;
  Unreadable unreadable_;
  std::vector<Repeated> repeated_;  // by id
  Constants constants_;             // empty without remats
  std::vector<std::vector<FlowEdge>> ways_;
  std::vector<std::uint32_t> pred_of_;  // of each edge block: the original block that it comes from
  EdgePath path_;
  struct Span {
    std::uint32_t begin, end, operand;
  };
  std::vector<Span> spans_;
};

}  // namespace

NamesBefore::NamesBefore(const Before& before)
    : cells(before.program()), bytes_of_name(cells.size(), 0xF),
      num_blocks(static_cast<std::uint32_t>(before.program().blocks.size())) {
  for (std::size_t v = 0; v < before.program().vregs.size(); ++v)
    if (!before.program().vregs[v].alias.is_valid())
      note_bytes(bytes_of_name, cells.of_operand(Operand::of_vreg(Role::Use, ir::VRegId(v))));
}

std::expected<Plan, std::string> make_plan(const Case& c) { return Planner(c).run(); }

}  // namespace regduel::oracles::symbolic
