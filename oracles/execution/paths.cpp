// Shortest paths are searched forward from the block of the run, edges in their order, and followed to their end.

#include "oracles/execution/paths.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "base/random.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;

// Instructions of all blocks that can be reached from `from`; kMuch where there are more than 16 of them.
constexpr std::size_t kMuch = static_cast<std::size_t>(-1);
std::size_t instructions_behind(const ir::Function& f, BlockId from) {
  std::array<BlockId, 16> blocks;
  std::size_t count = 1, instructions = 0;
  blocks[0] = from;
  for (std::size_t k = 0; k < count; ++k) {
    instructions += f.insts_of(blocks[k]).size();
    for (const BlockId to : f.successors(blocks[k])) {
      if (std::find(blocks.begin(), blocks.begin() + count, to) != blocks.begin() + count) continue;
      if (count == blocks.size()) return kMuch;
      blocks[count++] = to;
    }
  }
  return instructions;
}

}  // namespace

EdgeKinds::EdgeKinds(const Before& before) {
  const ir::Function& f = before.program();
  const ir::Cfg& cfg = before.cfg();
  const std::size_t little = std::max<std::size_t>(8, f.insts.size() / 8);
  std::vector<std::size_t> behind;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const auto successors = f.successors(BlockId(b));
    const bool is_branch = successors.size() > 1;
    behind.clear();
    for (const BlockId to : successors) behind.push_back(is_branch ? instructions_behind(f, to) : kMuch);
    const std::size_t most = behind.empty() ? 0 : *std::max_element(behind.begin(), behind.end());
    for (std::size_t k = 0; k < successors.size(); ++k) {
      from.push_back(BlockId(b));
      is_back.push_back(cfg.is_reachable(BlockId(b)) && cfg.rpo_index(successors[k]) <= cfg.rpo_index(BlockId(b)));
      is_early.push_back(behind[k] <= std::min(little, most / 2));
      is_reachable.push_back(cfg.is_reachable(BlockId(b)));
      if (is_reachable.back()) ++num_reachable;
    }
  }
}

Paths::Paths(const Plan& plan, const EdgeKinds& kinds) : plan_(plan), kinds_(kinds), num_left_(kinds.num_reachable) {
  const std::size_t edges = plan.edges.size(), blocks = plan.edges_of.size();
  is_done_.assign(edges, false);
  times_.assign(edges, 0);
  taken_at_.assign(edges, 0);
  entered_at_.assign(blocks, 0);
  visits_.assign(blocks, 0);
  known_.assign(std::bit_ceil(std::max<std::size_t>(1024, 32 * edges)) / 64, 0);
}

void Paths::begin_run(std::uint64_t salt, bool spreads) {
  salt_ = salt;
  spreads_ = spreads;
  is_novel_ = false;
  run_began_ = now_;
  std::fill(visits_.begin(), visits_.end(), 0);
  begin_stretch(0, 0);
}

void Paths::begin_stretch(std::uint32_t last, std::uint32_t last_but_one) {
  stretch_began_ = now_;
  last_ = last;
  last_but_one_ = last_but_one;
  route_.clear();
}

std::uint64_t Paths::three_edges(std::uint32_t chosen) const {
  return hash_combine(std::uint64_t{last_but_one_} << 32 | last_, chosen);
}

std::uint32_t Paths::explore(BlockId at) {
  const auto edges = plan_.edges_of[at.index()];
  const std::uint32_t n = edges.end - edges.begin;
  const std::uint64_t hash = mix64(hash_combine(hash_combine(salt_, at.value), visits_[at.index()]++));
  if (n == 1) return edges.begin;
  const auto start = static_cast<std::uint32_t>(hash % n);
  std::tuple<bool, bool, std::uint32_t> least(true, true, UINT32_MAX);
  std::uint32_t pick = edges.begin;
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t e = edges.begin + (start + k) % n;
    const std::tuple<bool, bool, std::uint32_t> rank(kinds_.is_early[e] && taken_at_[e] > run_began_, is_known(three_edges(e)),
                                                     spreads_ ? times_[e] : 0);
    if (rank >= least) continue;
    pick = e;
    least = rank;
  }
  return pick;
}

bool Paths::is_second_lap(std::uint32_t edge) const {
  return taken_at_[edge] > std::max(stretch_began_, entered_at_[plan_.edges[edge].to.index()]);
}

bool Paths::take(std::uint32_t edge) {
  bool is_new = false;
  // An edge that the program after does not follow has no second lap.
  if (!is_done_[edge] && (!kinds_.is_back[edge] || !plan_.edges[edge].is_followed || is_second_lap(edge))) {
    is_done_[edge] = is_new = true;
    --num_left_;
  }
  taken_at_[edge] = ++now_;
  if (!kinds_.is_back[edge]) entered_at_[plan_.edges[edge].to.index()] = now_;
  ++times_[edge];
  const auto edges = plan_.edges_of[kinds_.from[edge].index()];
  if (edges.end - edges.begin == 1) return is_new;
  const std::uint64_t key = three_edges(edge);
  if (!is_known(key)) is_novel_ = is_new = true;
  known_[key / 64 % known_.size()] |= 1ull << key % 64;
  last_but_one_ = last_;
  last_ = edge + 1;
  return is_new;
}

std::uint32_t Paths::seek(BlockId at) {
  if (route_.empty() && num_left_ > 0) find_route(at);
  if (route_.empty()) return kNoEdge;
  const std::uint32_t next = route_.back();
  route_.pop_back();
  return next;
}

// Behind the first of two laps, the end of the route is the same back edge: the shortest path there does not leave the loop.
void Paths::find_route(BlockId at) {
  const bool is_in_lap = lap_ != kNoEdge && !is_done_[lap_] && taken_at_[lap_] > stretch_began_;
  reached_in_.resize(entered_at_.size(), 0);
  reached_by_.resize(entered_at_.size());
  ++search_;
  queue_.assign(1, at.value);
  reached_in_[at.index()] = search_;
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    const auto edges = plan_.edges_of[queue_[k]];
    for (std::uint32_t e = edges.begin; e < edges.end; ++e, ++num_searched_) {
      const BlockId to = plan_.edges[e].to;
      if (is_in_lap ? e == lap_ : !is_done_[e]) {
        lap_ = kinds_.is_back[e] ? e : kNoEdge;
        route_.push_back(e);
        for (BlockId b = kinds_.from[e]; b != at; b = kinds_.from[route_.back()]) route_.push_back(reached_by_[b.index()]);
        return;
      }
      if (reached_in_[to.index()] == search_ || !plan_.edges[e].is_followed) continue;
      reached_in_[to.index()] = search_;
      reached_by_[to.index()] = e;
      queue_.push_back(to.value);
    }
  }
}

}  // namespace regduel::oracles
