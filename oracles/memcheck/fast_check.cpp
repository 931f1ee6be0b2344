// Sets of reaching definitions over sparse graphs, compared by number. See fast_check.h.

#include "oracles/memcheck/fast_check.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace regduel::oracles {

bool has_form_of(const ir::Function& before, const ir::Inst& old, const ir::Function& after, const ir::Inst& repeat) {
  if (!old.is_repeatable()) return false;
  const auto old_ops = before.operands_of(old), new_ops = after.operands_of(repeat);
  if (old_ops.size() != new_ops.size()) return false;
  for (std::size_t k = 0; k < old_ops.size(); ++k) {
    const ir::Operand &a = old_ops[k], &b = new_ops[k];
    if (a.role != b.role || a.is_register() != b.is_register() || (!a.is_register() && a.kind != b.kind)) return false;
    if (a.role == ir::Role::Guard || a.role == ir::Role::DefUse || a.role == ir::Role::Clobber) return false;
    if (a.kind == ir::OperandKind::Imm && a.imm() != b.imm()) return false;
    if (a.kind == ir::OperandKind::Symbol && before.symbols[a.symbol()] != after.symbols[b.symbol()]) return false;
    if (a.is_register() && a.role == ir::Role::Use && a.is_negated() != b.is_negated()) return false;
  }
  return true;
}

namespace {

// True where may_be(expected, found) holds for the sets of each byte. Requires: where it holds for those of a word, so it does for
// those of its bytes.
template <class MayBe>
bool reads_as(ReachingSets& before, std::size_t x, ReachingSets& after, std::size_t y, const MayBe& may_be) {
  const ValueGraph &old = before.graph(), &now = after.graph();
  const int bytes = std::min(old.read_bytes(x), now.read_bytes(y));
  const bool words = old.read_is_aligned(x) && now.read_is_aligned(y);
  const auto is_right_word = [&](int w) {
    const SetId expected = words ? before.set_of(State{old.read_word(x, w), kWord}) : kNoWord;
    if (expected == kNoWord) return false;
    const SetId found = after.set_of(State{now.read_word(y, w), kWord});
    return found != kNoWord && may_be(expected, found);
  };
  for (int w = 0; w * 4 < bytes; ++w)
    for (int i = w * 4; i < std::min(bytes, w * 4 + 4) && !(i == w * 4 && is_right_word(w)); ++i)
      if (!may_be(before.set_of(old.read_byte(x, i)), after.set_of(now.read_byte(y, i)))) return false;
  return true;
}

class FastCheck {
 public:
  FastCheck(const Case& c, MemcheckPart& prepared, MemcheckScope scope)
      : c_(c), scope_(scope), prepared_(prepared), defs_(prepared.defs()), sets_(prepared.sets()), before_(prepared.reaching()),
        before_graph_(prepared.graph()), after_cfg_(c.after),
        after_graph_(c.after, after_cfg_, defs_,
                     {.detail = Detail::Sparse, .callee_saved = c.prepared.preserved(), .doubtful = prepared.doubtful()}),
        after_(after_graph_, defs_, sets_) {}

  [[nodiscard]] std::optional<std::vector<ir::InstId>> suspects() {
    std::vector<ir::InstId> list;
    for (std::uint32_t i = 0; i < c_.after.insts.size(); ++i) {
      const ir::Inst& inst = c_.after.insts[i];
      if (inst.is_deleted() || !after_graph_.is_reachable(i)) continue;
      if (inst.op == ir::Op::Remat) {
        // Until a remat is found to be wrong, all are taken to be right: the operands of one may come from another.
        if (!is_right_remat(c_, before_graph_, inst, [&](auto x, auto y) { return is_same_operand(x, y); })) return std::nullopt;
      } else if (!inst.is_inserted() && !is_same_instruction(inst)) {
        list.push_back(inst.id);
      }
    }
    for (const RetRead& r : after_graph_.ret_reads())
      for (int k = 0; k < ir::unit_bytes(r.unit.file); ++k)
        if (after_.set_of(ByteRef{r.node, k}) != sets_.single(element_of(r.saved, k))) list.push_back(c_.after.insts[r.inst].id);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

 private:
  // Operands, of an instruction in the program before and after.
  struct Guards {
    std::size_t before, after;
  };
  struct Assumptions {
    Assumption before, after;
  };
  [[nodiscard]] bool is_same_operand(std::size_t x, std::size_t y, const std::optional<Guards>& guards = {}) {
    if (before_graph_.is_read(x) != after_graph_.is_read(y)) return false;
    if (!before_graph_.is_read(x)) return true;
    const auto may_be = [&](SetId expected, SetId found) {
      return expected == found || (scope_ == MemcheckScope::Errors && has_undefined(expected) && has_all_defined(found, expected));
    };
    if (reads_as(before_, x, after_, y, may_be)) return true;
    if (!after_graph_.has_gates()) return false;
    const Assumptions assumed = guards ? assumptions(*guards) : Assumptions();
    for (int k = 0; k < std::min(before_graph_.read_bytes(x), after_graph_.read_bytes(y)); ++k) {
      const ByteRef from = before_graph_.read_byte(x, k), to = after_graph_.read_byte(y, k);
      const SetId expected = before_.set_of(from), found = after_.set_of(to);
      if (may_be(expected, found)) continue;
      if (!has_defined(expected) || !is_same_under_guards({before_, from, expected, assumed.before},
                                                          {after_, to, found, assumed.after}, has_undefined(expected)))
        return false;
    }
    return true;
  }
  // What may be assumed where the guards hold: nothing, unless they are one predicate.
  [[nodiscard]] Assumptions assumptions(const Guards& guards) {
    if (!before_graph_.is_read(guards.before) || !after_graph_.is_read(guards.after)) return {};
    const NodeId from = before_graph_.read_word(guards.before, 0), to = after_graph_.read_word(guards.after, 0);
    const SetId predicate = before_.predicate_of(from);
    if (predicate != after_.predicate_of(to)) return {};
    return {{predicate, !c_.before.operands[guards.before].is_negated(), from},
            {predicate, !c_.after.operands[guards.after].is_negated(), to}};
  }

  // A word is undefined where all of it is. One that is put together of four bytes from different places counts as defined.
  [[nodiscard]] bool is_undefined(std::uint32_t element) const {
    return !DefSets::is_word(element) && defs_.is_undefined(leaf_of(element));
  }
  [[nodiscard]] bool has_undefined(SetId set) {
    return sets_.any_of(set, has_undefined_, [&](std::uint32_t e) { return is_undefined(e); });
  }
  [[nodiscard]] bool has_defined(SetId set) {
    return sets_.any_of(set, has_defined_, [&](std::uint32_t e) { return !is_undefined(e); });
  }
  // `found` has all elements of `expected` that are defined.
  [[nodiscard]] bool has_all_defined(SetId found, SetId expected) {
    return sets_.has_all(found, expected, has_defined_, [&](std::uint32_t e) { return !is_undefined(e); });
  }

  [[nodiscard]] bool is_same_instruction(const ir::Inst& now) {
    const std::uint32_t source = defs_.index_of(now.id);
    if (source == kNone || !before_graph_.is_reachable(source)) return true;
    const ir::Inst& old = c_.before.insts[source];
    const auto old_guard = guard_operand(c_.before, old), new_guard = guard_operand(c_.after, now);
    if (old_guard && new_guard && !is_same_operand(*old_guard, *new_guard) && !is_idle_copy(c_.prepared, source, c_.after, now))
      return false;
    if (old.is_copy() || old.is_phi() || prepared_.asks_for_nothing(old.id)) return true;
    if (old.num_operands != now.num_operands) return false;
    const auto guards = old_guard && new_guard ? std::optional(Guards{*old_guard, *new_guard}) : std::nullopt;
    const auto old_ops = c_.before.operands_of(old);
    for (std::size_t k = 0; k < old_ops.size(); ++k)
      if (old_ops[k].reads() && old_ops[k].role != ir::Role::Guard && old_ops[k].is_register() &&
          !is_same_operand(old.first_operand + k, now.first_operand + k, guards))
        return false;
    return true;
  }

  const Case& c_;
  MemcheckScope scope_;
  const MemcheckPart& prepared_;
  Definitions& defs_;
  DefSets& sets_;
  ReachingSets& before_;
  const ValueGraph& before_graph_;
  const ir::Cfg after_cfg_;
  const ValueGraph after_graph_;
  ReachingSets after_;
  std::vector<signed char> has_defined_, has_undefined_;  // memos of DefSets::any_of
};

}  // namespace

FastAnswer fast_check(const Case& c, MemcheckScope scope) {
  MemcheckPart& prepared = c.prepared.part<MemcheckPart>();
  FastAnswer answer;
  // An undefined guard may be anything, at each read anew; after allocation it may even share its register with a defined one. So
  // nothing may be concluded of it: each read of it is another value in both graphs, here and in the deep check.
  answer.doubtful = prepared.doubtful();
  answer.suspects = FastCheck(c, prepared, scope).suspects();
  prepared.forget_after();
  return answer;
}

}  // namespace regduel::oracles
