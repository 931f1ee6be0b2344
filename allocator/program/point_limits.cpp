// See point_limits.h.

#include "allocator/program/point_limits.h"

#include <algorithm>
#include <limits>

#include "allocator/program/names.h"
#include "ir/cfg.h"
#include "ir/register_limit.h"

namespace regduel::allocator {

PointLimits::PointLimits(const Function& f, int at_entry) : least_(at_entry), most_(at_entry) {
  if (!ir::changes_register_limit(f)) return;
  const ir::Cfg cfg(f);
  constexpr int kNone = std::numeric_limits<int>::max();
  std::vector<int> end(f.blocks.size(), kNone);
  const auto at_head = [&](BlockId b) {
    int limit = b.value == 0 || !cfg.is_reachable(b) ? at_entry : kNone;
    for (const BlockId p : cfg.predecessors(b))
      if (cfg.is_reachable(b)) limit = std::min(limit, end[p.index()]);
    return limit;
  };
  const auto behind = [&](const Inst& inst, int limit) {
    const auto changed = ir::new_register_limit(f, inst);
    if (!changed) return limit;
    return ir::is_guarded(f.operands_of(inst)) ? std::min(limit, *changed) : *changed;
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (const BlockId b : cfg.reverse_postorder()) {
      int limit = at_head(b);
      for (const Inst& inst : f.insts_of(b)) limit = behind(inst, limit);
      changes = changes || limit != end[b.index()];
      end[b.index()] = limit;
    }
  }
  limit_.resize(f.insts.size());
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    int limit = at_head(BlockId(b));
    for (std::uint32_t k = 0; k < f.blocks[b].num_insts; ++k) {
      const std::size_t i = f.blocks[b].first_inst + k;
      const int before = limit;
      limit = behind(f.insts[i], limit);
      const int here = std::min(before, limit);
      limit_[i] = static_cast<std::uint16_t>(here);
      least_ = std::min(least_, here);
      most_ = std::max({most_, here, limit});
    }
  }
}

}  // namespace regduel::allocator
