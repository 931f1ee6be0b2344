// Why an operand differs: the ten categories of source 000, and the lists of producers. See memcheck.h; tested by explain_test.cpp.

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "oracles/memcheck/deep_check.h"

namespace regduel::oracles {
namespace {

// DECISIONS: where several categories apply, the first of 7, 8, 9, 3, 4, 1, 2, 5, 6, 10.
int rank(MemcheckCode code) {
  static constexpr std::array<int, 11> kRank = {10, 5, 6, 3, 4, 7, 8, 0, 1, 2, 9};
  return kRank[static_cast<std::size_t>(code)];
}

}  // namespace

bool DeepCheck::has_any(SetId set, const std::vector<std::uint32_t>& elements) const {
  return std::any_of(elements.begin(), elements.end(), [&](std::uint32_t e) { return sets_.contains(set, e); });
}

bool DeepCheck::shares_definition(SetId a, SetId b) {
  const auto list = sets_.elements(a);
  return std::any_of(list.begin(), list.end(),
                     [&](std::uint32_t e) { return !defs_.is_undefined(leaf_of(e)) && sets_.contains(b, e); });
}

void DeepCheck::propose(OperandMismatch& best, MemcheckCode code, ir::InstId other) const {
  if (best.code != MemcheckCode::None && rank(code) >= rank(best.code)) return;
  best.code = code;
  best.other = other;
}

// A value of 8 or 16 bits: the definition itself, or the upper bytes that it leaves undefined.
bool DeepCheck::is_narrow(std::uint32_t element) const {
  const Leaf& leaf = defs_[leaf_of(element)];
  const std::uint32_t inst = leaf.inst.is_valid() ? defs_.index_of(leaf.inst) : kNone;
  if (inst == kNone || leaf.operand < 0) return false;
  const auto ops = c_.before.operands_of(c_.before.insts[inst]);
  if (static_cast<std::size_t>(leaf.operand) >= ops.size()) return false;
  const ir::Operand& op = ops[static_cast<std::size_t>(leaf.operand)];
  return op.is_vreg() && !ir::is_predicate(c_.before.vreg(op.vreg()).file()) && c_.before.operand_bytes(op) < 4;
}

// Bytes that a narrow def leaves undefined above itself, where the def itself should not be there either.
bool DeepCheck::is_above_an_extra_def(const Leaf& above) const {
  if (above.kind != LeafKind::Destroyed || above.operand < 0) return false;
  return std::any_of(differences_.begin(), differences_.end(), [&](const Difference& d) {
    return std::any_of(d.additions.begin(), d.additions.end(), [&](std::uint32_t e) {
      const Leaf& leaf = defs_[leaf_of(e)];
      return leaf.kind == LeafKind::Def && leaf.inst == above.inst && leaf.operand == above.operand;
    });
  });
}

OperandMismatch DeepCheck::explain() {
  OperandMismatch best;
  // Whether a refill brings an expected definition on some path. An instruction under the guard of the store that the refill reads
  // sees a second node of this refill, with the one side of the store alone; the first has both.
  std::optional<std::vector<NodeId>> behind_guarded_stores;
  const auto delivers_expected = [&](State refill, SetId expected) {
    if (shares_definition(after_.set_of(refill), expected)) return true;
    if (!behind_guarded_stores) {
      behind_guarded_stores.emplace();
      for (NodeId k = 0; after_graph_.has_gates() && k < after_graph_.num_nodes(); ++k)
        if (after_graph_.node(k).kind == NodeKind::Via && after_graph_.node(after_graph_.node(k).a).kind == NodeKind::Gated)
          behind_guarded_stores->push_back(k);
    }
    const Node& seen = after_graph_.node(refill.node);
    return std::any_of(behind_guarded_stores->begin(), behind_guarded_stores->end(), [&](NodeId k) {
      const Node &whole = after_graph_.node(k), &store = after_graph_.node(whole.a);
      return whole.inst == seen.inst && (store.a == seen.a || store.b == seen.a) &&
             shares_definition(after_.set_of(State{k, refill.aspect}), expected);
    });
  };
  for (const Difference& d : differences_) {
    const State from{d.after.node, byte_aspect(d.after.byte)};
    const auto visits = after_walk_.states_to(set_with(d.additions), from, d.assumed);
    for (const std::uint32_t e : d.additions) {
      const Leaf& leaf = defs_[leaf_of(e)];
      const std::uint32_t inst = leaf.inst.is_valid() ? after_graph_.index_of(leaf.inst) : kNone;
      if (leaf.kind == LeafKind::Foreign && inst != kNone && c_.after.insts[inst].op == ir::Op::Remat)
        propose(best, MemcheckCode::RematerializationMismatch, leaf.inst);
      else if (leaf.kind == LeafKind::Def || leaf.kind == LeafKind::Foreign || is_above_an_extra_def(leaf))
        propose(best, MemcheckCode::ExtraDefsIntroduced, leaf.inst);
      else propose(best, MemcheckCode::UninitializedValueIntroduced, leaf.inst);
      best.mixed_size = best.mixed_size || is_narrow(e);
    }
    for (const std::uint32_t e : d.removals)
      if (d.additions.empty()) propose(best, MemcheckCode::DefinitionsDisappeared, defs_[leaf_of(e)].inst);
    // What did the wrong value come through?
    for (const GuardedWalk::Visit& v : visits) {
      const Node& n = after_graph_.node(v.state.node);
      const bool is_refill = n.kind == NodeKind::Via && c_.after.insts[n.inst].op == ir::Op::Refill;
      if (n.kind != NodeKind::Extracted && !is_refill) continue;
      if (is_refill)
        propose(best,
                delivers_expected(v.state, d.expected) ? MemcheckCode::RefillReadsUninitialized : MemcheckCode::SpillRefillMismatch,
                c_.after.insts[n.inst].id);
      else explain_extraction(d, v.state, visits, best);
    }
  }
  if (best.code == MemcheckCode::RematerializationMismatch) best.remat_of = c_.after.insts[after_graph_.index_of(best.other)].ref;
  return best;
}

// A predicate that came out of a pack. The base is destroyed where a write to the pack's register shows at the bit, and the
// register had held an expected predicate there; else its match is missing. What is wrong in the bit may have come out of another
// pack before it was put there: whose base is destroyed is for that pack's own extraction to say.
void DeepCheck::explain_extraction(const Difference& d, State extracted, const std::vector<GuardedWalk::Visit>& visits,
                                   OperandMismatch& best) {
  const Node& n = after_graph_.node(extracted.node);
  const ir::Inst& inst = c_.after.insts[n.inst];
  const bool by_p2r = inst.op == ir::Op::R2P;
  propose(best, by_p2r ? MemcheckCode::P2rR2pPatternFailure : MemcheckCode::BitSpillRefillFailure, inst.id);
  const auto key = [](State s) { return static_cast<std::uint64_t>(s.node) << 8 | s.aspect; };
  FlatMap open;  // 1 = visited, and not yet gone through here
  for (const GuardedWalk::Visit& v : visits)
    if (v.state.aspect >= bit_aspect(0)) open.at(key(v.state), 0) = 1;
  std::vector<State> work = {extracted}, next;
  while (!work.empty()) {
    const State s = work.back();
    work.pop_back();
    (void)after_.step(s, next);
    for (const State bit : next) {
      if (std::exchange(open.at(key(bit), 0), 0) == 0) continue;
      work.push_back(bit);
      // Behind the write of this byte there may be others, of other parts of the register. An instruction that clobbers the register
      // that it defines writes it twice.
      const int byte = static_cast<int>(bit.aspect - bit_aspect(0)) / 8;
      NodeId write = bit.node, old = after_graph_.overwritten(write);
      while (old != kNone && after_graph_.content(write, byte) == after_graph_.content(old, byte)) {
        write = old;
        old = after_graph_.overwritten(write);
      }
      if (old != kNone && after_graph_.kind(old) == NodeKind::Leaf && after_graph_.node(old).inst == after_graph_.node(write).inst)
        old = after_graph_.overwritten(old);
      const Node& at = after_graph_.node(write);
      const bool is_write =
          at.kind == NodeKind::Leaf || at.kind == NodeKind::Via || at.kind == NodeKind::Compose;  // Compose: of a part
      if (old == kNone || !is_write || !has_any(after_.set_of(bit), d.additions)) continue;
      if (!shares_definition(after_.set_of(State{old, bit.aspect}), d.expected)) continue;
      propose(best, by_p2r ? MemcheckCode::P2rR2pBaseDestroyed : MemcheckCode::BitSpillBaseDestroyed, c_.after.insts[at.inst].id);
    }
  }
}

// The instructions that stand immediately before the given bytes; `unexplained` elements mark those that bring one.
std::vector<Producer> DeepCheck::producers(ReachingSets& in, const std::vector<ByteRef>& bytes,
                                           const std::vector<std::uint32_t>& unexplained) {
  const ValueGraph& g = in.graph();
  std::vector<Producer> found;
  FlatMap seen;
  std::vector<State> work;
  std::vector<State> next;
  for (auto b = bytes.rbegin(); b != bytes.rend(); ++b) work.push_back({b->node, byte_aspect(b->byte)});
  while (!work.empty()) {
    const State s = work.back();
    work.pop_back();
    std::uint32_t& known = seen.at(static_cast<std::uint64_t>(s.node) << 8 | s.aspect, 0);
    if (known != 0) continue;
    known = 1;
    const Node& n = g.node(s.node);
    if (n.kind == NodeKind::Link || n.kind == NodeKind::Phi || n.kind == NodeKind::Gated || n.kind == NodeKind::Compose) {
      (void)in.step(s, next);
      work.insert(work.end(), next.rbegin(), next.rend());
      continue;
    }
    Producer p;
    p.inst = g.program().insts[n.inst].id;
    p.operand = n.operand;
    if (n.kind == NodeKind::Leaf) {
      const Leaf& leaf = defs_[leaf_of(sets_.elements(in.step(s, next))[0])];
      p.inst = leaf.inst;
      p.operand = leaf.kind == LeafKind::Def || leaf.kind == LeafKind::Foreign ? leaf.operand : -1;
      p.is_destroyer = leaf.kind == LeafKind::Destroyed;
    }
    p.explained = !has_any(in.set_of(s), unexplained);
    const auto same = std::find(found.begin(), found.end(), p);
    if (same == found.end()) found.push_back(p);
    else same->explained = same->explained && p.explained;
  }
  std::sort(found.begin(), found.end(), [](const Producer& a, const Producer& b) {
    return std::tuple(a.inst.is_valid(), a.inst, a.operand, a.is_destroyer) <
           std::tuple(b.inst.is_valid(), b.inst, b.operand, b.is_destroyer);
  });
  return found;
}

void DeepCheck::list_producers(OperandMismatch& m, const std::vector<ByteRef>& before, const std::vector<ByteRef>& after) {
  if (scope_ == MemcheckScope::Errors) return;
  std::vector<std::uint32_t> added, removed;
  for (const Difference& d : differences_) {
    added.insert(added.end(), d.additions.begin(), d.additions.end());
    removed.insert(removed.end(), d.removals.begin(), d.removals.end());
  }
  m.before = producers(before_, before, removed);
  m.after = producers(after_, after, added);
  const auto missing_in = [](const std::vector<Producer>& from, const std::vector<Producer>& in) {
    std::vector<Producer> missing;
    std::copy_if(from.begin(), from.end(), std::back_inserter(missing),
                 [&](const Producer& p) { return std::find(in.begin(), in.end(), p) == in.end(); });
    return missing;
  };
  m.additions = missing_in(m.after, m.before);
  m.removals = missing_in(m.before, m.after);
}

}  // namespace regduel::oracles
