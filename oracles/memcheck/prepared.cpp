#include "oracles/memcheck/prepared.h"

#include <algorithm>

namespace regduel::oracles {

std::optional<std::size_t> guard_operand(const ir::Function& f, const ir::Inst& i) {
  const auto ops = f.operands_of(i);
  const ir::Operand* const guard = ir::guard_of(ops);
  if (guard == nullptr || !guard->is_register()) return std::nullopt;
  return i.first_operand + static_cast<std::size_t>(guard - ops.data());
}

MemcheckPart::MemcheckPart(const Before& before) : defs_(before.program()) {
  make_graph(before);
  doubtful_ = find_doubtful();
  // Which guards are doubtful shows in a graph that trusts them all, and of those it must conclude nothing.
  if (!doubtful_.empty()) make_graph(before);
  own_leaves_ = defs_.size();
}

void MemcheckPart::make_graph(const Before& before) {
  graph_.emplace(before.program(), before.cfg(), defs_, GraphOptions{.detail = Detail::Sparse, .doubtful = doubtful_});
  reaching_.emplace(*graph_, defs_, sets_);
}

std::vector<ir::InstId> MemcheckPart::find_doubtful() {
  std::vector<ir::InstId> list;
  if (!graph_->has_gates()) return list;
  const ir::Function& before = graph_->program();
  const auto is_undefined = [&](std::uint32_t e) { return defs_.is_undefined(leaf_of(e)); };
  std::vector<signed char> memo;
  for (std::uint32_t i = 0; i < before.insts.size(); ++i) {
    const auto guard = graph_->is_reachable(i) ? guard_operand(before, before.insts[i]) : std::nullopt;
    if (!guard || !graph_->is_read(*guard)) continue;
    if (sets_.any_of(reaching_->set_of(graph_->read_byte(*guard, 0)), memo, is_undefined)) list.push_back(before.insts[i].id);
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace regduel::oracles
