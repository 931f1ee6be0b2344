#include "reference/program/point_limits.h"

#include <algorithm>

#include "ir/register_limit.h"

namespace regduel::reference {

PointLimits::PointLimits(const ir::Function& f, const ir::Cfg& cfg, int at_entry) : f_(f), least_(at_entry), most_(at_entry) {
  if (!ir::changes_register_limit(f)) return;
  // The blocks begin with a limit that no path has; each visit lowers it until nothing changes.
  constexpr int kNoPath = ir::kMaxUnits + 1;
  std::vector<int> head(f.blocks.size(), kNoPath);
  head[0] = at_entry;
  const auto transfer = [&](const ir::Inst& i, int limit) {
    const auto changed = ir::new_register_limit(f, i);
    if (!changed) return limit;
    return ir::is_guarded(f.operands_of(i)) ? std::min(limit, *changed) : *changed;
  };
  std::vector<ir::BlockId> work = {ir::BlockId(0)};
  while (!work.empty()) {
    const ir::BlockId b = work.back();
    work.pop_back();
    int limit = head[b.index()];
    for (const ir::Inst& i : f.insts_of(b)) limit = transfer(i, limit);
    for (const ir::BlockId s : cfg.successors(b)) {
      if (limit >= head[s.index()]) continue;
      head[s.index()] = limit;
      work.push_back(s);
    }
  }
  before_.resize(f.insts.size());
  behind_.resize(f.insts.size());
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    int limit = head[b] == kNoPath ? at_entry : head[b];
    const ir::Block& block = f.blocks[b];
    for (std::size_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      before_[i] = static_cast<std::uint16_t>(limit);
      limit = transfer(f.insts[i], limit);
      behind_[i] = static_cast<std::uint16_t>(limit);
      least_ = std::min(least_, limit);
      most_ = std::max(most_, limit);
    }
  }
}

}  // namespace regduel::reference
