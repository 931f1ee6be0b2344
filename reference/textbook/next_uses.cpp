#include "reference/textbook/next_uses.h"

#include <algorithm>

namespace regduel::reference {

NextUses::NextUses(const Code& code, const Liveness& liveness, const std::vector<std::uint32_t>& order)
    : code_(code), liveness_(liveness), position_(code.insts.size(), 0), at_head_(code.blocks.size()),
      behind_(code.temps.size(), kNever) {
  std::uint32_t position = 0;
  for (const std::uint32_t b : order)
    for (std::uint32_t k = 0; k < code.blocks[b].num_insts; ++k) position_[code.blocks[b].first_inst + k] = ++position;
  uses_.build(code.temps.size(), [&](auto add) {
    for (const std::uint32_t b : order)
      for (std::uint32_t k = 0; k < code.blocks[b].num_insts; ++k) {
        const std::uint32_t i = code.blocks[b].first_inst + k;
        for (const Ref& r : code.refs_of(code.insts[i])) add(r.temp, Use{position_[i], code.blocks[b].freq});
      }
  });
  find_at_heads(liveness, order);
}

void NextUses::find_at_heads(const Liveness& liveness, const std::vector<std::uint32_t>& order) {
  for (const std::uint32_t b : order) at_head_[b].assign(liveness.live_in(b).size(), kNever);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = order.size(); k-- > 0;) {
      const std::uint32_t b = order[k];
      begin(b);
      const auto live = liveness.live_in(b);
      for (std::size_t v = 0; v < live.size(); ++v) {
        const std::uint64_t d = distance(live[v]);
        changed = changed || d < at_head_[b][v];
        at_head_[b][v] = std::min(at_head_[b][v], d);
      }
    }
  }
}

void NextUses::begin(std::uint32_t block) {
  const CodeBlock& b = code_.blocks[block];
  block_ = block;
  now_ = b.num_insts > 0 ? position_[b.first_inst] - 1 : 0;
  end_ = now_ + b.num_insts;
  for (const TempId t : behind_set_) behind_[t] = kNever;
  behind_set_.clear();
  for (const std::uint32_t s : code_.successors[block]) {
    const std::uint64_t exit = code_.blocks[s].freq < b.freq ? kExit : 0;
    const auto live = liveness_.live_in(s);
    for (std::size_t v = 0; v < live.size(); ++v) {
      behind_[live[v]] = std::min(behind_[live[v]], std::min(kNever, at_head_[s].empty() ? kNever : at_head_[s][v] + exit));
      behind_set_.push_back(live[v]);
    }
  }
}

const NextUses::Use* NextUses::next(TempId t) const {
  const auto mine = uses_[t];
  const auto at = std::ranges::upper_bound(mine, now_, {}, &Use::position);
  return at != mine.end() ? &*at : nullptr;
}

std::uint64_t NextUses::distance(TempId t) const {
  if (const Use* const use = next(t); use != nullptr && use->position <= end_) return use->position - now_;
  return std::min(kNever, behind_[t] + (end_ - now_));
}

std::uint64_t NextUses::next_frequency(TempId t) const {
  const Use* const use = next(t);
  return use != nullptr ? use->frequency : code_.blocks[block_].freq;
}

std::uint64_t NextUses::at_head(std::uint32_t block, TempId t) const {
  const auto live = liveness_.live_in(block);
  return at_head_[block][static_cast<std::size_t>(std::ranges::lower_bound(live, t) - live.begin())];
}

}  // namespace regduel::reference
