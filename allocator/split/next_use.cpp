// See next_use.h.

#include "allocator/split/next_use.h"

#include <algorithm>
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

// Where one global candidate after the other is live, and how far its uses are.
class NextUse::OneCandidate {
 public:
  OneCandidate(const NextUse& next, const ir::Cfg& cfg, const BlockWeights& weights)
      : next_(next), cfg_(cfg), weights_(weights), at_(next.first_.size()), is_loop_head_(next.first_.size(), 0) {
    for (const BlockId b : cfg.reverse_postorder())
      for (const BlockId s : cfg.successors(b))
        if (cfg.rpo_index(s) <= cfg.rpo_index(b)) is_loop_head_[s.index()] = 1;
  }

  void find(std::uint32_t candidate) {
    candidate_ = candidate;
    begin_blocks();
    spread_backwards();
    std::sort(heads_.begin(), heads_.end(), [&](BlockId x, BlockId y) { return cfg_.rpo_index(x) > cfg_.rpo_index(y); });
    find_distances();
    find_reached();
  }
  template <class VisitHead, class VisitEnd>
  void for_each(VisitHead head, VisitEnd end) {
    for (const BlockId b : heads_) {
      const Here& here = at_[b.index()];
      if (here.is_reached) head(b, AtHead{candidate_, here.distance, here.refills});
    }
    for (const BlockId b : ends_) {
      const Here& here = at_[b.index()];
      end(b, AtEnd{candidate_, behind(b).first, here.is_reached || here.writes});
    }
  }

 private:
  // The candidate in one block.
  struct Here {
    std::uint32_t of = SplitCandidates::kNone;  // the candidate that all this is about
    std::int32_t first = 0;                     // what comes first: the distance to a read, kNever for a new value, 0 = neither
    std::int32_t distance = kNever;             // from the head
    std::int64_t refills = 0;
    bool is_live = false, is_reached = false, writes = false;  // the first two: at the head
    bool is_listed = false;                                    // in ends_
  };

  Here& at(BlockId b) {
    Here& here = at_[b.index()];
    if (here.of != candidate_) here = {.of = candidate_};
    return here;
  }
  [[nodiscard]] bool is_live(BlockId b) const { return at_[b.index()].of == candidate_ && at_[b.index()].is_live; }

  void begin_blocks() {
    heads_.clear();
    ends_.clear();
    writers_.clear();
    const auto list = next_.occurrences_[candidate_];
    for (std::size_t k = 0; k < list.size();) {
      const BlockId b = next_.live_.block_at(list[k].number);
      Here& here = at(b);
      here.first = list[k].reads ? static_cast<std::int32_t>(list[k].number - next_.first_[b.index()]) + 1 : kNever;
      if (list[k].reads) {
        here.is_live = true;
        here.distance = here.first;
        here.refills = weights_.frequency[b.index()];
        heads_.push_back(b);
      }
      for (; k < list.size() && list[k].number <= next_.last_[b.index()]; ++k) here.writes = here.writes || list[k].writes;
      if (here.writes) writers_.push_back(b);
    }
  }
  void spread_backwards() {
    for (std::size_t k = 0; k < heads_.size(); ++k)
      for (const BlockId p : cfg_.predecessors(heads_[k])) {
        if (!cfg_.is_reachable(p)) continue;
        Here& before = at(p);
        if (!before.is_listed) before.is_listed = true, ends_.push_back(p);
        if (before.is_live || before.first != 0) continue;
        before.is_live = true;
        heads_.push_back(p);
      }
  }
  // From behind the last instruction of a block: the distance, and how often refills run for the uses there. Mostly one refill serves
  // the successors where their paths join, so the maximum of their refills counts, not the sum.
  [[nodiscard]] std::pair<std::int32_t, std::int64_t> behind(BlockId b) const {
    std::int32_t distance = kNever;
    std::int64_t refills = 0;
    for (const BlockId s : cfg_.successors(b)) {
      if (!is_live(s)) continue;
      const int leaves = weights_.loop_depth[b.index()] - weights_.loop_depth[s.index()];
      const Here& next = at_[s.index()];
      distance = std::min(distance, next.distance + kLeavesLoop * std::clamp(leaves, 0, 16));
      refills = std::max(refills, next.refills);
    }
    return {distance, refills};
  }
  // Refills at a block that reads the value run as often as the block. At any other block they run as often as the block or as the
  // refills behind it, whichever is less.
  void find_distances() {
    // Only the heads of loops are read before they are passed, so one pass in this order finds all unless one of them changes.
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : heads_) {
        Here& here = at_[b.index()];
        if (here.first != 0) continue;
        auto [distance, refills] = behind(b);
        distance = std::min(kNever, distance + static_cast<std::int32_t>(next_.last_[b.index()] - next_.first_[b.index()]) + 1);
        refills = std::min(refills, weights_.frequency[b.index()]);
        changed = changed || (is_loop_head_[b.index()] != 0 && (distance != here.distance || refills != here.refills));
        here.distance = distance;
        here.refills = refills;
      }
    }
  }
  void find_reached() {
    std::vector<BlockId>& open = writers_;
    while (!open.empty()) {
      const BlockId b = open.back();
      open.pop_back();
      for (const BlockId s : cfg_.successors(b)) {
        if (!is_live(s) || at_[s.index()].is_reached) continue;
        at_[s.index()].is_reached = true;
        open.push_back(s);
      }
    }
  }

  const NextUse& next_;
  const ir::Cfg& cfg_;
  const BlockWeights& weights_;
  std::uint32_t candidate_ = 0;
  std::vector<Here> at_;            // by block
  std::vector<char> is_loop_head_;  // by block: an edge goes back to it
  std::vector<BlockId> heads_;      // blocks at whose head it is live
  std::vector<BlockId> ends_;       // their predecessors
  std::vector<BlockId> writers_;
};

NextUse::NextUse(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const SplitCandidates& candidates,
                 const BlockWeights& weights)
    : live_(live), num_global_(candidates.num_global), first_(f.blocks.size()), last_(f.blocks.size()) {
  find_occurrences(f, cfg, candidates);
  OneCandidate one(*this, cfg, weights);
  std::vector<std::pair<BlockId, AtHead>> heads;
  std::vector<std::pair<BlockId, AtEnd>> ends;
  for (std::uint32_t c = 0; c < num_global_; ++c) {
    one.find(c);
    one.for_each([&](BlockId b, const AtHead& h) { heads.emplace_back(b, h); },
                 [&](BlockId b, const AtEnd& e) { ends.emplace_back(b, e); });
  }
  const auto block = [](const auto& entry) { return entry.first.index(); };
  const auto item = [](const auto& entry) { return entry.second; };
  heads_.build_from(f.blocks.size(), heads, block, item);
  ends_.build_from(f.blocks.size(), ends, block, item);
}

void NextUse::find_occurrences(const ir::Function& f, const ir::Cfg& cfg, const SplitCandidates& candidates) {
  for (const BlockId b : cfg.reverse_postorder()) {
    const ir::Block& block = f.block(b);
    first_[b.index()] = live_.number_of(block.first_inst);
    last_[b.index()] = first_[b.index()] + block.num_insts - 1;
  }
  occurrences_.build(candidates.size(), [&](auto add) {
    for (const BlockId b : cfg.reverse_postorder())
      for (const Inst& inst : f.insts_of(b)) {
        const std::uint32_t number = live_.number_of(static_cast<std::size_t>(&inst - f.insts.data()));
        for (int reads = 1; reads >= 0; --reads)
          for (std::size_t k = inst.first_operand; k < inst.first_operand + inst.num_operands; ++k) {
            const Operand& op = f.operands[k];
            if (!op.is_vreg() || candidates[op.vreg()] == SplitCandidates::kNone) continue;
            if (needs_old_value(f, live_, inst, k) == (reads != 0) && (reads != 0 || op.writes()))
              add(candidates[op.vreg()], Occurrence{number, reads != 0, op.writes()});
          }
      }
  });
}

std::int32_t NextUse::behind(std::uint32_t candidate, std::uint32_t number) const {
  const std::size_t b = live_.block_at(number).index();
  const auto list = occurrences_[candidate];
  const auto it =
      std::upper_bound(list.begin(), list.end(), number, [](std::uint32_t n, const Occurrence& o) { return n < o.number; });
  if (it != list.end() && it->number <= last_[b]) return it->reads ? static_cast<std::int32_t>(it->number - number) : kNever;
  if (candidate >= num_global_) return kNever;
  const auto ends = ends_[b];
  const auto end =
      std::lower_bound(ends.begin(), ends.end(), candidate, [](const AtEnd& e, std::uint32_t c) { return e.candidate < c; });
  if (end == ends.end() || end->candidate != candidate) return kNever;
  return std::min(kNever, end->distance + static_cast<std::int32_t>(last_[b] - number));
}

}  // namespace regduel::allocator
