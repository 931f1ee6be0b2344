// See next_use.h.

#include "allocator/split/next_use.h"

#include <algorithm>
#include <utility>

namespace regduel::allocator {

using ir::BlockId;
using ir::Inst;
using ir::Operand;

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

NextUse::NextUse(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const SplitCandidates& candidates,
                 std::span<const int> loop_depth)
    : live_(live), size_(candidates.num_global), first_(f.blocks.size()), last_(f.blocks.size()) {
  const std::size_t n = f.blocks.size() * size_;
  head_.assign(n, kNever);
  tail_.assign(n, kNever);
  is_reached_.assign(n, 0);
  writes_.assign(n, 0);
  occurrences_.build(candidates.size(), [&](auto add) {
    for (const BlockId b : cfg.reverse_postorder())
      for (const Inst& inst : f.insts_of(b)) {
        const std::uint32_t number = live.number_of(static_cast<std::size_t>(&inst - f.insts.data()));
        for (int reads = 1; reads >= 0; --reads)
          for (std::size_t k = inst.first_operand; k < inst.first_operand + inst.num_operands; ++k) {
            const Operand& op = f.operands[k];
            if (!op.is_vreg() || candidates[op.vreg()] == SplitCandidates::kNone) continue;
            if (reads != 0 ? needs_old_value(f, live, inst, k) : is_new_value(f, live, inst, k))
              add(candidates[op.vreg()], Occurrence{number, reads != 0});
          }
      }
  });
  for (const BlockId b : cfg.reverse_postorder()) {
    const ir::Block& block = f.block(b);
    first_[b.index()] = live.number_of(block.first_inst);
    last_[b.index()] = first_[b.index()] + block.num_insts - 1;
    for (const Inst& inst : f.insts_of(b))
      for (const Operand& op : f.operands_of(inst))
        if (op.is_vreg() && op.writes() && candidates[op.vreg()] < size_) writes_[b.index() * size_ + candidates[op.vreg()]] = 1;
  }
  // What comes first in a block: the distance to a use, kNever for a new value, 0 where the block has neither.
  std::vector<std::int32_t> local(n, 0);
  for (std::uint32_t c = 0; c < size_; ++c) {
    for (const Occurrence& o : occurrences_[c]) {
      const BlockId b = live.block_at(o.number);
      std::int32_t& at = local[b.index() * size_ + c];
      if (at == 0) at = o.reads ? static_cast<std::int32_t>(o.number - first_[b.index()]) + 1 : kNever;
    }
  }
  // Block by block, until nothing comes nearer; a block is looked at again where the head of a successor has changed.
  const auto rpo = cfg.reverse_postorder();
  std::vector<char> is_open(f.blocks.size(), 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = rpo.size(); r-- > 0;) {
      const std::size_t b = rpo[r].index();
      if (std::exchange(is_open[b], 0) == 0) continue;
      const auto length = static_cast<std::int32_t>(last_[b] - first_[b]) + 1;
      std::int32_t *const tail = tail_.data() + b * size_, *const head = head_.data() + b * size_;
      const std::int32_t* const here = local.data() + b * size_;
      for (const BlockId s : cfg.successors(rpo[r])) {
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
      if (nearer == 0) continue;
      for (const BlockId p : cfg.predecessors(rpo[r])) is_open[p.index()] = 1;
      changed = true;
    }
  }
  // The same for what reaches a head, forwards.
  is_open.assign(f.blocks.size(), 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : rpo) {
      if (std::exchange(is_open[b.index()], 0) == 0) continue;
      for (const BlockId s : cfg.successors(b)) {
        const char *const before = is_reached_.data() + b.index() * size_, *const writes = writes_.data() + b.index() * size_;
        char* const reached = is_reached_.data() + s.index() * size_;
        int more = 0;
        for (std::size_t c = 0; c < size_; ++c) {
          const char now = static_cast<char>(reached[c] | before[c] | writes[c]);
          more |= now != reached[c] ? 1 : 0;
          reached[c] = now;
        }
        if (more == 0) continue;
        is_open[s.index()] = 1;
        changed = true;
      }
    }
  }
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
