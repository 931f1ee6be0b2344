#include "oracles/limit_by_point.h"

#include <algorithm>

#include "ir/register_limit.h"

namespace regduel::oracles {

int LimitByPoint::behind(const ir::Function& f, const ir::Inst& inst, int before) {
  const auto changed = ir::new_register_limit(f, inst);
  if (!changed) return before;
  return ir::is_guarded(f.operands_of(inst)) ? std::min(before, *changed) : *changed;
}

LimitByPoint::LimitByPoint(const ir::Function& f, int at_entry) : least_(at_entry), most_(at_entry) {
  if (!ir::changes_register_limit(f)) return;
  constexpr int kUnreached = ir::kMaxUnits + 1;
  head_.assign(f.blocks.size(), kUnreached);
  head_[0] = at_entry;
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t b = 0; b < f.blocks.size(); ++b) {
      int limit = head_[b];
      if (limit == kUnreached) continue;
      for (const ir::Inst& i : f.insts_of(ir::BlockId(b))) limit = behind(f, i, limit);
      for (const ir::BlockId to : f.successors(ir::BlockId(b))) {
        if (to.index() >= head_.size() || head_[to.index()] <= limit) continue;
        head_[to.index()] = limit;
        changes = true;
      }
    }
  }
  before_.resize(f.insts.size());
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    if (head_[b] == kUnreached) head_[b] = at_entry;
    int limit = head_[b];
    for (std::size_t i = f.blocks[b].first_inst; i < f.blocks[b].first_inst + f.blocks[b].num_insts; ++i) {
      before_[i] = limit;
      limit = behind(f, f.insts[i], limit);
      least_ = std::min(least_, limit);
      most_ = std::max(most_, limit);
    }
  }
}

}  // namespace regduel::oracles
