// The quick test: bits of from(L) flow along the paths. See escapes.h.

#include "oracles/uniform/escapes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "oracles/before.h"
#include "oracles/pair/match.h"
#include "oracles/uniform/bit_flow.h"
#include "oracles/uniform/contents.h"
#include "oracles/uniform/undefined_reads.h"

namespace regduel::oracles::uniform {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;

class Escapes {
 public:
  Escapes(const Case& c, const std::vector<char>& declared)
      : c_(c), before_(c.before), after_(c.after), prepared_(c.prepared), declared_(declared), cells_(after_) {}

  [[nodiscard]] FoundEscapes find() {
    find_candidates();
    if (sources_.empty()) return {};
    const ir::Cfg cfg(after_);
    find_undefined();
    is_content_ = reads_of_contents(c_, cells_, cfg, declared_, is_undefined_);
    std::erase_if(sources_, [&](std::uint32_t k) { return !is_source(k); });
    if (sources_.empty()) return {};
    BitFlow flow(cfg, cells_.size(), Direction::Forward);
    flow.settle({}, [&](ir::BlockId b, Bits& from) {
      const ir::Block& block = after_.block(b);
      const std::uint32_t end = block.first_inst + block.num_insts;
      const auto next = std::ranges::lower_bound(sources_, block.first_inst);
      if (from.listed().empty() && (next == sources_.end() || *next >= end)) return;
      for (std::uint32_t k = block.first_inst; k < end; ++k)
        if (!after_.insts[k].is_deleted()) step(k, from);
    });
    if (!any_ || may_be_spoilt_) return {any_, {}};
    return {any_, std::move(sources_)};
  }

 private:
  [[nodiscard]] std::uint32_t index_before(ir::InstId id) const { return prepared_.ids().find(id); }
  [[nodiscard]] std::span<const Operand> operands_before(ir::InstId id) const {
    const std::uint32_t at = index_before(id);
    return at == IdIndex::kNone ? std::span<const Operand>() : before_.operands_of(before_.insts[at]);
  }
  [[nodiscard]] bool is_declared(const Operand& op) const { return op.is_vreg() && declared_[op.vreg().index()] != 0; }
  [[nodiscard]] bool varies(const Operand& op) const { return op.is_vreg() && !is_declared(op); }
  static bool is_uniform(const Operand& op) { return op.is_preg() && ir::is_uniform(op.preg().file); }

  // What moves something out of a uniform register into another file or the frame, or reads one as something that counts.
  void find_candidates() {
    may_be_spoilt_ = std::ranges::any_of(after_.insts, [&](const Inst& i) { return spoils(i); });
    for (std::uint32_t k = 0; k < after_.insts.size(); ++k) {
      const Inst& i = after_.insts[k];
      const auto ops = after_.operands_of(i);
      if (i.is_deleted() || std::ranges::none_of(ops, [](const Operand& op) { return op.reads() && is_uniform(op); })) continue;
      if (has_moves(i.op) || ir::is_slot_move(i.op) || ir::packs_bits(i.op)) {
        const bool stays = std::ranges::all_of(ops, [](const Operand& op) { return !op.writes() || is_uniform(op); });
        if (!stays || i.op == Op::Spill) sources_.push_back(k);
      } else if (reads_what_counts(i, [&](const Operand& op) { return is_uniform(op); })) {
        sources_.push_back(k);
      }
    }
  }
  [[nodiscard]] bool is_source(std::uint32_t at) {
    const Inst& i = after_.insts[at];
    const auto ops = after_.operands_of(i);
    if (!has_moves(i.op) && !ir::is_slot_move(i.op) && !ir::packs_bits(i.op)) {
      const bool escapes = reads_what_counts(i, [&](const Operand& op) { return is_uniform(op) && !is_content(op); });
      any_ = any_ || escapes;
      return escapes;
    }
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (ops[k].reads() && is_uniform(ops[k]) && !is_content(ops[k]) && !is_vouched(i, k)) return true;
    return false;
  }
  // The copies of the program that touch a uniform register.
  void find_undefined() {
    std::vector<char> asked(before_.insts.size(), 0);
    bool any = false;
    for (const Inst& i : after_.insts) {
      if (i.is_deleted() || i.is_inserted() || i.is_phi() || !(has_moves(i.op) || i.op == Op::Spill)) continue;
      if (std::ranges::none_of(after_.operands_of(i), is_uniform)) continue;
      const std::uint32_t at = index_before(i.id);
      if (at != IdIndex::kNone) asked[at] = 1, any = true;
    }
    is_undefined_ = any ? undefined_reads(prepared_, declared_, asked) : std::vector<char>(before_.operands.size(), 0);
  }
  // The use k is of a copy of the program, of a vreg that all threads share, and defined there; and no register may be spoilt.
  [[nodiscard]] bool is_vouched(const Inst& i, std::size_t k) const {
    if (i.is_inserted() || i.is_phi() || may_be_spoilt_) return false;
    const auto want = operands_before(i.id);
    const auto holds = [&](const Operand& op) {
      return is_declared(op) && is_undefined_[static_cast<std::size_t>(&op - before_.operands.data())] == 0;
    };
    // A copy that has become a spill is of one register.
    if (i.op == Op::Spill) return std::ranges::all_of(want, [&](const Operand& op) { return op.role != Role::Use || holds(op); });
    return k < want.size() && holds(want[k]);
  }

  [[nodiscard]] bool is_content(const Operand& op) const {
    return is_content_[static_cast<std::size_t>(&op - after_.operands.data())] != 0;
  }
  void step(std::uint32_t at, Bits& from) {
    const Inst& i = after_.insts[at];
    const auto ops = after_.operands_of(i);
    const auto is_from = [&](const Operand& op) { return !is_uniform(op) && from.any_of(cells_.of_operand(op)); };
    any_ = any_ || reads_what_counts(i, is_from) || (i.op == Op::Ret && hands_on(from));
    const bool is_guarded = ir::is_guarded(ops), is_source = std::ranges::binary_search(sources_, at);
    const bool is_copy = has_moves(i.op) || ir::is_slot_move(i.op);
    if (ir::packs_bits(i.op)) return move_pack(i, is_source, is_guarded, from);
    if (is_copy) list(i, ops, is_source);
    for (const Operand& op : ops)
      if (op.is_preg() && !is_guarded && ((op.writes() && !is_copy) || op.role == Role::Clobber))
        from.remove(cells_.of_operand(op));
    move_bits(from, moves_.list, is_guarded);
    moves_.list.clear();
  }
  void list(const Inst& i, std::span<const Operand> ops, bool is_source) {
    const auto source = [&](std::size_t k) {
      if (!is_uniform(ops[k])) return BitMove::Source::Cells;
      return is_source ? BitMove::Source::Ones : BitMove::Source::Zeros;
    };
    if (!ir::is_slot_move(i.op)) return moves_.add(i.op, ops, [&](std::size_t k) { return cells_.of_operand(ops[k]); }, source);
    const std::uint32_t size = cells_.moved_by(ops);
    std::size_t slot = ops.size(), reg = ops.size();
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (ops[k].is_slot()) slot = k;
      else if (ops[k].is_register() && ops[k].role != Role::Guard && ops[k].role != Role::Clobber) reg = k;
    }
    if (size == 0 || slot == ops.size() || reg == ops.size()) return;
    const Place memory = cells_.of_slot(ops[slot], size), place = cells_.of_operand(ops[reg]);
    if (i.op == Op::Spill) moves_.list.push_back({.to = memory, .from = place, .source = source(reg)});
    else moves_.list.push_back({.to = place, .from = memory});
  }
  void move_pack(const Inst& i, bool is_source, bool is_guarded, Bits& from) {
    const PackForm form = pack_form(after_, i);
    if (form.pack == nullptr || !form.pack->is_preg()) return;
    const std::uint32_t pack = cells_.of_operand(*form.pack).cell, held = from.of(pack);
    for (const PackedPredicate& p : form.predicates) {
      if (p.bit > 31 || !p.predicate->is_preg()) continue;
      const std::uint32_t bit = std::uint32_t{1} << p.bit, predicate = cells_.of_operand(*p.predicate).cell;
      const std::uint32_t to = form.is_into_pack ? pack : predicate, bits = form.is_into_pack ? bit : kPredicate;
      const bool reads_uniform = is_uniform(form.is_into_pack ? *p.predicate : *form.pack);
      const bool is_from = reads_uniform ? is_source : (form.is_into_pack ? from.of(predicate) : held & bit) != 0;
      if (!is_guarded) from.remove(to, bits);
      if (is_from) from.add(to, bits);
    }
  }
  // What was inserted writes a uniform register in some threads: the others may find there what these wrote.
  [[nodiscard]] bool spoils(const Inst& i) const {
    const auto ops = after_.operands_of(i);
    return i.is_inserted() && !i.is_deleted() && ir::is_guarded(ops) &&
           std::ranges::any_of(ops, [](const Operand& op) { return op.writes() && is_uniform(op); });
  }
  // An instruction of the program, or a remat, reads what `is_meant` holds for: as something that may vary or, where a uniform register
  // may be spoilt, as anything. A copy hands on what it reads; its guard is read.
  [[nodiscard]] bool reads_what_counts(const Inst& i, const auto& is_meant) const {
    if (i.is_inserted() && i.op != Op::Remat) return false;
    const auto ops = after_.operands_of(i);
    const bool is_copy = i.is_copy() || i.is_phi() || ir::is_slot_move(i.op);
    std::span<const Operand> want;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_preg() || !ops[k].reads() || (is_copy && ops[k].role != Role::Guard) || !is_meant(ops[k])) continue;
      if (want.empty()) want = operands_before(i.op == Op::Remat ? i.ref : i.id);
      if (k < want.size() && want[k].reads() && (may_be_spoilt_ || varies(want[k]))) return true;
    }
    return false;
  }
  // What the function hands to its caller.
  [[nodiscard]] bool hands_on(const Bits& from) const {
    return std::ranges::any_of(prepared_.preserved(), [&](const ir::PReg& r) {
      return !ir::is_uniform(r.file) && from.any_of(cells_.of_operand(Operand::of_preg(Role::Use, r)));
    });
  }

  static constexpr std::uint32_t kPredicate = 0xFF;
  const Case& c_;
  const Function& before_;
  const Function& after_;
  const Before& prepared_;
  const std::vector<char>& declared_;
  Cells cells_;
  std::vector<char> is_undefined_;  // by operand of the program before, of the copies that matter
  std::vector<char> is_content_;    // by operand of the program after
  std::vector<std::uint32_t> sources_;
  bool any_ = false;            // something escapes
  bool may_be_spoilt_ = false;  // some instruction spoils
  BitMoves moves_;              // of the step at hand
};

}  // namespace

std::vector<char> declared_vregs(const Function& before) {
  std::vector<char> roots(before.vregs.size(), 0), declared(before.vregs.size(), 0);
  for (std::size_t v = 0; v < roots.size(); ++v) {
    const ir::VReg& vreg = before.vregs[v];
    if (ir::is_uniform(vreg.file()) || (vreg.flags & ir::kVRegUniform) != 0) roots[before.root(ir::VRegId(v)).index()] = 1;
  }
  for (std::size_t v = 0; v < roots.size(); ++v) declared[v] = roots[before.root(ir::VRegId(v)).index()];
  return declared;
}

FoundEscapes find_escapes(const Case& c, const std::vector<char>& declared) { return Escapes(c, declared).find(); }

}  // namespace regduel::oracles::uniform
