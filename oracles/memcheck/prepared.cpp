#include "oracles/memcheck/prepared.h"

#include <algorithm>

namespace regduel::oracles {

std::optional<std::size_t> guard_operand(const ir::Function& f, const ir::Inst& i) {
  const auto ops = f.operands_of(i);
  const ir::Operand* const guard = ir::guard_of(ops);
  if (guard == nullptr || !guard->is_register()) return std::nullopt;
  return i.first_operand + static_cast<std::size_t>(guard - ops.data());
}

namespace {

// Whether bytes of `written` are read behind instruction `index` of block `from`.
bool is_read_behind(const ir::Function& f, ir::BlockId from, std::uint32_t index, const ir::Storage& written) {
  std::vector<bool> is_seen(f.blocks.size(), false);
  std::vector<std::pair<ir::BlockId, std::uint32_t>> work = {{from, index + 1}};
  const auto reads = [&](const ir::Operand& op) { return op.is_vreg() && op.reads() && f.storage(op).overlaps(written); };
  while (!work.empty()) {
    const auto [block, first] = work.back();
    work.pop_back();
    const ir::Block& b = f.block(block);
    bool is_overwritten = false;
    for (std::uint32_t i = first; i < b.first_inst + b.num_insts && !is_overwritten; ++i) {
      const auto ops = f.operands_of(f.insts[i]);
      if (!f.insts[i].is_phi() && std::any_of(ops.begin(), ops.end(), reads)) return true;
      for (const ir::Operand& op : ops) {
        if (!op.is_vreg() || op.role != ir::Role::Def || ir::is_guarded(ops)) continue;
        const ir::Storage s = f.storage(op);
        is_overwritten = is_overwritten || (s.root == written.root && s.offset <= written.offset &&
                                            s.offset + s.size >= written.offset + written.size);
      }
    }
    if (is_overwritten) continue;
    for (const ir::BlockId next : f.successors(block)) {
      for (const ir::Inst& phi : f.insts_of(next)) {
        if (!phi.is_phi()) break;
        const auto ops = f.operands_of(phi);
        for (std::size_t k = 1; k < ops.size(); ++k)
          if (f.targets_of(phi)[k - 1] == block && reads(ops[k])) return true;
      }
      if (is_seen[next.index()]) continue;
      is_seen[next.index()] = true;
      work.emplace_back(next, f.block(next).first_inst);
    }
  }
  return false;
}

}  // namespace

bool is_idle_copy(const Before& before, std::uint32_t old, const ir::Function& after, const ir::Inst& now) {
  const ir::Function& f = before.program();
  if (!f.insts[old].is_copy()) return false;
  const auto have = after.operands_of(now);
  bool moves = !now.is_copy();
  if (now.is_copy())
    for (const auto [def, use] : ir::copy_pairs(have)) moves = moves || !def.is_preg() || !def.names_same(use);
  if (!moves) return true;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const ir::Block& block = f.blocks[b];
    if (old < block.first_inst || old >= block.first_inst + block.num_insts) continue;
    for (const ir::Operand& op : ir::defs_of(f.operands_of(f.insts[old])))
      if (is_read_behind(f, ir::BlockId(b), old, f.storage(op))) return false;
  }
  return true;
}

MemcheckPart::MemcheckPart(const Before& before) : defs_(before.program()) {
  make_graph(before);
  find_doubtful();
  // Which guards are doubtful shows in a graph that trusts them all, and of those it must conclude nothing.
  if (!doubtful_.empty()) make_graph(before);
  own_leaves_ = defs_.size();
}

void MemcheckPart::make_graph(const Before& before) {
  graph_.emplace(before.program(), before.cfg(), defs_, GraphOptions{.detail = Detail::Sparse, .doubtful = doubtful_});
  reaching_.emplace(*graph_, defs_, sets_);
}

void MemcheckPart::find_doubtful() {
  if (!graph_->has_gates()) return;
  const ir::Function& before = graph_->program();
  const auto is_undefined = [&](std::uint32_t e) { return defs_.is_undefined(leaf_of(e)); };
  const auto is_defined = [&](std::uint32_t e) { return !is_undefined(e); };
  std::vector<signed char> has_undefined, has_defined;  // memos of DefSets::any_of
  for (std::uint32_t i = 0; i < before.insts.size(); ++i) {
    const auto guard = graph_->is_reachable(i) ? guard_operand(before, before.insts[i]) : std::nullopt;
    if (!guard || !graph_->is_read(*guard)) continue;
    const SetId definitions = reaching_->set_of(graph_->read_byte(*guard, 0));
    if (!sets_.any_of(definitions, has_undefined, is_undefined)) continue;
    doubtful_.push_back(before.insts[i].id);
    if (!sets_.any_of(definitions, has_defined, is_defined)) unasked_.push_back(before.insts[i].id);
  }
  for (auto* list : {&doubtful_, &unasked_}) std::sort(list->begin(), list->end());
}

}  // namespace regduel::oracles
