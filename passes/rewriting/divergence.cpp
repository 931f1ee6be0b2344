#include "passes/rewriting/divergence.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/planted.h"
#include "passes/rewriting/mobility.h"

namespace regduel::passes {

using ir::BlockId;
using ir::Inst;
using ir::Operand;

namespace {

// The operand with the threads that take part, of an instruction that gives each of them the same; null where it is another one.
const Operand* mask_of_vote(const ir::Function& f, const Inst& i) {
  const auto uses = ir::uses_of(f.operands_of(i));
  if (i.op != ir::Op::Named || uses.size() != 2) return nullptr;
  for (const std::string_view name : {"vote.sync.", "redux.sync.", "match.all.sync."})
    if (f.mnemonic(i).starts_with(name)) return &uses[1];
  return nullptr;
}

}  // namespace

bool is_shared_by_threads(std::string_view r) {
  for (const std::string_view name :
       {"%ctaid", "%nctaid", "%ntid", "%gridid", "%nsmid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"})
    if (r == name || (r.starts_with(name) && r.substr(name.size()).starts_with('.'))) return true;
  return false;
}

Divergence::Divergence(const ir::Function& f, const ir::Cfg& cfg)
    : f_(f), cfg_(cfg), varying_(f.vregs.size(), 0), diverged_(f.blocks.size(), 0) {
  find_meetings();
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : cfg.reverse_postorder()) {
      for (const Inst& i : f.insts_of(b)) {
        const bool is_diverged = diverged_[b.index()] != 0 && !REGDUEL_PLANTED("uniform-writes-in-diverged-blocks");
        if (!is_diverged && !makes_varying(i)) continue;
        for (const Operand& op : ir::defs_of(f.operands_of(i))) {
          const ir::VRegId root = f.root(op.vreg());
          // What the program puts there is the same.
          if (ir::is_uniform(f.vreg(root).file()) || (f.vreg(root).flags & ir::kVRegUniform) != 0) continue;
          changed = std::exchange(varying_[root.index()], char{1}) == 0 || changed;
        }
      }
      const Inst& t = f.terminator(b);
      const auto ops = f.operands_of(t);
      const bool varies =
          std::ranges::any_of(ops, [&](const Operand& op) { return op.is_vreg() && is_varying(f.root(op.vreg())); });
      const auto ways = std::ranges::count_if(cfg.successors(b), [&](BlockId s) { return !leaves(s); });
      if (ways < 2 || !varies) continue;
      const std::vector<char> before = diverged_;
      diverge(b);
      changed = changed || before != diverged_;
    }
  }
}

bool Divergence::makes_varying(const Inst& i) const {
  const auto ops = f_.operands_of(i);
  const auto varies = [&](const Operand& op) { return op.is_vreg() && op.reads() && is_varying(f_.root(op.vreg())); };
  if (const Operand* mask = mask_of_vote(f_, i)) {
    const Operand* guard = ir::guard_of(ops);
    return varies(*mask) || (guard != nullptr && varies(*guard));
  }
  if (std::ranges::any_of(ops, varies)) return true;
  if (i.is_copy() || i.is_phi() || i.op == ir::Op::Pack || i.op == ir::Op::Unpack || i.op == ir::Op::Const) return false;
  if (i.op != ir::Op::Named || is_effect(f_, i, ops)) return true;
  if (reads_memory(i)) return !REGDUEL_PLANTED("uniform-loads-are-the-same");
  for (const Operand& op : ir::uses_of(ops))
    if (op.kind == ir::OperandKind::Symbol && f_.symbols[op.symbol()].starts_with('%') &&
        !is_shared_by_threads(f_.symbols[op.symbol()]))
      return true;
  // What computes from nothing may be anything.
  return ir::uses_of(ops).empty();
}

bool Divergence::leaves(BlockId b) const {
  return f_.block(b).num_insts == 1 && cfg_.successors(b).empty() && f_.kind == ir::FunctionKind::Kernel;
}

// Immediate postdominators, as dominators of the graph of edges the other way round, with one end behind all exits.
void Divergence::find_meetings() {
  meeting_.assign(f_.blocks.size(), {});
  const auto order = cfg_.reverse_postorder();
  // Postorder from the end: a walk of predecessors from the exits.
  std::vector<std::uint32_t> index(f_.blocks.size(), 0);  // 0 = does not reach an exit; the end is above all
  std::vector<BlockId> postorder;
  std::vector<char> seen(f_.blocks.size(), 0);
  for (const BlockId exit : order) {
    const bool is_exit = std::ranges::all_of(cfg_.successors(exit), [&](BlockId s) { return leaves(s); });
    if (!is_exit || std::exchange(seen[exit.index()], char{1}) != 0) continue;
    std::vector<std::pair<BlockId, std::size_t>> open = {{exit, 0}};
    while (!open.empty()) {
      auto& [b, next] = open.back();
      const auto preds = cfg_.predecessors(b);
      if (next == preds.size()) {
        postorder.push_back(b);
        index[b.index()] = static_cast<std::uint32_t>(postorder.size());
        open.pop_back();
        continue;
      }
      const BlockId p = preds[next++];
      if (cfg_.is_reachable(p) && std::exchange(seen[p.index()], char{1}) == 0) open.emplace_back(p, 0);
    }
  }
  // parent: a block, or invalid for the end; known[b] once it has one.
  std::vector<char> known(f_.blocks.size(), 0);
  const auto common = [&](BlockId a, BlockId b) {
    while (a != b) {
      if (!a.is_valid() || !b.is_valid()) return BlockId();
      BlockId& lower = index[a.index()] < index[b.index()] ? a : b;
      lower = meeting_[lower.index()];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = postorder.size(); k-- > 0;) {
      const BlockId b = postorder[k];
      BlockId best;
      bool has_best = std::ranges::all_of(cfg_.successors(b), [&](BlockId s) { return leaves(s); });
      for (const BlockId s : cfg_.successors(b)) {
        if (known[s.index()] == 0 || leaves(s)) continue;
        best = has_best ? common(best, s) : s;
        has_best = true;
      }
      if (!has_best) continue;
      changed = changed || known[b.index()] == 0 || meeting_[b.index()] != best;
      known[b.index()] = 1;
      meeting_[b.index()] = best;
    }
  }
}

void Divergence::diverge(BlockId branch) {
  const BlockId end = meeting_[branch.index()];
  std::vector<char> seen(f_.blocks.size(), 0);
  std::vector<BlockId> work;
  const auto visit = [&](BlockId b) {
    if (b == end || leaves(b) || std::exchange(seen[b.index()], char{1}) != 0) return;
    diverged_[b.index()] = 1;
    work.push_back(b);
  };
  for (const BlockId s : cfg_.successors(branch)) visit(s);
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const BlockId s : cfg_.successors(b)) visit(s);
  }
}

}  // namespace regduel::passes
