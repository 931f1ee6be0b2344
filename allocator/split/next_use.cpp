// See next_use.h.

#include "allocator/split/next_use.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "allocator/program/names.h"

namespace regduel::allocator {

bool needs_old_value(const ir::Function& f, const Liveness& live, const Inst& inst, std::size_t operand) {
  const Operand& op = f.operands[operand];
  if (op.reads() && live.read_bytes(operand) != 0) return true;
  if (!op.writes()) return false;
  const ByteMask kept = ir::is_guarded(f.operands_of(inst)) ? ~ByteMask{0} : ~bytes_of(f, op);
  return (live.reached_before(operand) & kept) != 0;
}

bool is_new_value(const ir::Function& f, const Liveness& live, const Inst& inst, std::size_t operand) {
  const Operand& op = f.operands[operand];
  return op.role == ir::Role::Def && !needs_old_value(f, live, inst, operand);
}

bool begins_piece(const ir::Function& f, const Liveness& live, const Inst& inst, std::size_t operand) {
  return is_new_value(f, live, inst, operand) && f.operands[operand].part.is_whole() && !ir::is_guarded(f.operands_of(inst));
}

namespace {

// Visits blocks in an order, and again the readers of a block that has changed, until none changes.
//   visit     of a block: true if it has changed
//   lookers   of a block: the blocks that read its state
template <typename Order, typename Visit, typename Lookers>
void until_stable(const Order& order, std::size_t num_blocks, Visit visit, Lookers lookers) {
  std::vector<char> is_open(num_blocks, 1);
  for (bool any = true; any;) {
    any = false;
    for (const BlockId b : order) {
      if (std::exchange(is_open[b.index()], 0) == 0 || !visit(b)) continue;
      for (const BlockId looker : lookers(b)) is_open[looker.index()] = 1;
      any = true;
    }
  }
}
template <typename Visit>
void backwards_until_stable(const ir::Cfg& cfg, std::size_t num_blocks, Visit visit) {
  until_stable(std::views::reverse(cfg.reverse_postorder()), num_blocks, visit, [&](BlockId b) { return cfg.predecessors(b); });
}

}  // namespace

NextUse::NextUse(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const SplitCandidates& candidates,
                 const BlockWeights& weights)
    : live_(live), size_(candidates.num_global), first_(f.blocks.size()), last_(f.blocks.size()) {
  find_occurrences(f, cfg, candidates);
  find_reached(cfg);
  find_distances(cfg, weights.loop_depth);
  find_refills(cfg, weights.frequency);
  list_live();
}

void NextUse::find_occurrences(const ir::Function& f, const ir::Cfg& cfg, const SplitCandidates& candidates) {
  occurrences_.build(candidates.size(), [&](auto add) {
    for (const BlockId b : cfg.reverse_postorder())
      for (const Inst& inst : f.insts_of(b)) {
        const std::uint32_t number = live_.number_of(static_cast<std::size_t>(&inst - f.insts.data()));
        for (int reads = 1; reads >= 0; --reads)
          for (std::size_t k = inst.first_operand; k < inst.first_operand + inst.num_operands; ++k) {
            const Operand& op = f.operands[k];
            if (!op.is_vreg() || candidates[op.vreg()] == SplitCandidates::kNone) continue;
            if (reads != 0 ? needs_old_value(f, live_, inst, k) : is_new_value(f, live_, inst, k))
              add(candidates[op.vreg()], Occurrence{number, reads != 0});
          }
      }
  });
  writes_.assign(f.blocks.size() * size_, 0);
  for (const BlockId b : cfg.reverse_postorder()) {
    const ir::Block& block = f.block(b);
    first_[b.index()] = live_.number_of(block.first_inst);
    last_[b.index()] = first_[b.index()] + block.num_insts - 1;
    for (const Inst& inst : f.insts_of(b))
      for (const Operand& op : f.operands_of(inst))
        if (op.is_vreg() && op.writes() && candidates[op.vreg()] < size_) writes_[b.index() * size_ + candidates[op.vreg()]] = 1;
  }
  local_.assign(f.blocks.size() * size_, 0);
  for (std::uint32_t c = 0; c < size_; ++c)
    for (const Occurrence& o : occurrences_[c]) {
      const std::size_t b = live_.block_at(o.number).index();
      std::int32_t& at = local_[b * size_ + c];
      if (at == 0) at = o.reads ? static_cast<std::int32_t>(o.number - first_[b]) + 1 : kNever;
    }
}

void NextUse::find_reached(const ir::Cfg& cfg) {
  is_reached_.assign(writes_.size(), 0);
  until_stable(
      cfg.reverse_postorder(), first_.size(),
      [&](BlockId b) {
        char* const reached = is_reached_.data() + b.index() * size_;
        int more = 0;
        for (const BlockId p : cfg.predecessors(b)) {
          const char *const before = is_reached_.data() + p.index() * size_, *const writes = writes_.data() + p.index() * size_;
          for (std::size_t c = 0; c < size_; ++c) {
            const char now = static_cast<char>(reached[c] | before[c] | writes[c]);
            more |= now ^ reached[c];
            reached[c] = now;
          }
        }
        return more != 0;
      },
      [&](BlockId b) { return cfg.successors(b); });
}

void NextUse::find_distances(const ir::Cfg& cfg, std::span<const int> loop_depth) {
  head_.assign(writes_.size(), kNever);
  tail_.assign(writes_.size(), kNever);
  backwards_until_stable(cfg, first_.size(), [&](BlockId block) {
    const std::size_t b = block.index();
    const auto length = static_cast<std::int32_t>(last_[b] - first_[b]) + 1;
    std::int32_t *const tail = tail_.data() + b * size_, *const head = head_.data() + b * size_;
    const std::int32_t* const here = local_.data() + b * size_;
    for (const BlockId s : cfg.successors(block)) {
      const std::int32_t jump = kLeavesLoop * std::max(0, std::min(loop_depth[b] - loop_depth[s.index()], 16));
      const std::int32_t* const next = head_.data() + s.index() * size_;
      for (std::size_t c = 0; c < size_; ++c) tail[c] = std::min(tail[c], next[c] + jump);
    }
    std::int32_t nearer = 0;
    for (std::size_t c = 0; c < size_; ++c) {
      const std::int32_t now = here[c] != 0 ? here[c] : std::min(kNever, tail[c] + length);
      nearer |= now < head[c] ? 1 : 0;
      head[c] = std::min(head[c], now);
    }
    return nearer != 0;
  });
}

// Refills at a block that reads the value run as often as the block; at one that writes it anew, never. At any other block they run
// as often as the block or as the most frequent refills of one of its successors, whichever is less. The maximum counts and not the
// sum, since mostly one refill serves the successors where their paths join.
void NextUse::find_refills(const ir::Cfg& cfg, std::span<const std::int64_t> frequency) {
  fewest_refills_.assign(writes_.size(), 0);
  std::vector<std::int64_t> behind(size_);
  backwards_until_stable(cfg, first_.size(), [&](BlockId block) {
    const std::size_t b = block.index();
    std::fill(behind.begin(), behind.end(), 0);
    for (const BlockId s : cfg.successors(block)) {
      const std::int64_t* const next = fewest_refills_.data() + s.index() * size_;
      for (std::size_t c = 0; c < size_; ++c) behind[c] = std::max(behind[c], next[c]);
    }
    const std::int32_t* const here = local_.data() + b * size_;
    std::int64_t* const head = fewest_refills_.data() + b * size_;
    std::int64_t more = 0;
    for (std::size_t c = 0; c < size_; ++c) {
      const std::int64_t now = here[c] == kNever ? 0 : here[c] != 0 ? frequency[b] : std::min(frequency[b], behind[c]);
      more |= now ^ head[c];
      head[c] = now;
    }
    return more != 0;
  });
}

void NextUse::list_live() {
  live_at_head_.build(first_.size(), [&](auto add) {
    for (std::size_t b = 0; b < first_.size(); ++b)
      for (std::uint32_t c = 0; c < size_; ++c)
        if (is_live_at_head(c, b)) add(b, c);
  });
}

std::int32_t NextUse::behind(std::uint32_t candidate, std::uint32_t number) const {
  const std::size_t b = live_.block_at(number).index();
  const auto list = occurrences_[candidate];
  const auto it =
      std::upper_bound(list.begin(), list.end(), number, [](std::uint32_t n, const Occurrence& o) { return n < o.number; });
  if (it != list.end() && it->number <= last_[b]) return it->reads ? static_cast<std::int32_t>(it->number - number) : kNever;
  if (candidate >= size_) return kNever;
  return std::min(kNever, tail_[b * size_ + candidate] + static_cast<std::int32_t>(last_[b] - number));
}

}  // namespace regduel::allocator
