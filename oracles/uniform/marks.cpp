// Two greatest solutions over the blocks, forward and backward. See marks.h.

#include "oracles/uniform/marks.h"

#include <algorithm>
#include <utility>

namespace regduel::oracles::uniform {

void Marks::add(Value v) {
  if (of_.size() <= v) of_.resize(plan_.values.size(), kUnmarked);
  of_[v] = kEverywhere;
}

void Marks::list_local() {
  if (of_.size() < plan_.values.size()) of_.resize(plan_.values.size(), kUnmarked);
  for (const auto& [v, block] : at_blocks_) {
    if (of_[v] != kUnmarked) continue;  // listed
    of_[v] = static_cast<std::uint32_t>(kLocal + local_.size());
    local_.push_back(v);
  }
}

void Marks::solve(std::span<const char> varies, Sets& made) {
  const std::size_t num_blocks = plan_.blocks.size(), size = num_words();
  Sets marked(num_blocks, size), before(num_blocks, size), later(num_blocks, size);
  for (const auto& [v, block] : at_blocks_) marked.add(block, of_[v] - kLocal);
  before.fill(), later.fill();
  std::ranges::fill(before[plan_.order.front()], 0);  // there is one more way into the function
  const auto edges_of = [&](std::uint32_t b) {
    return std::span(plan_.edges).subspan(plan_.edges_of[b].begin, plan_.edges_of[b].end - plan_.edges_of[b].begin);
  };
  for (bool shrank = true; shrank;) {
    shrank = false;
    for (const std::uint32_t b : plan_.order)
      for (const symbolic::FlowEdge& e : edges_of(b))
        for (std::size_t w = 0; w < size; ++w) {
          const std::uint64_t old = before[e.to][w], now = old & (before[b][w] | marked[b][w]);
          before[e.to][w] = now;
          shrank = shrank || now != old;
        }
  }
  for (bool shrank = true; shrank;) {
    shrank = false;
    for (std::size_t k = plan_.order.size(); k-- > 0;) {
      const std::uint32_t b = plan_.order[k];
      for (std::size_t w = 0; w < size; ++w) {
        std::uint64_t all = ~std::uint64_t{0}, any = 0;
        for (const symbolic::FlowEdge& e : edges_of(b)) {
          const std::uint64_t from_there = marked[e.to][w] | (later[e.to][w] & ~made[e.to][w]);
          all &= from_there, any |= from_there;
        }
        const std::uint64_t now = later[b][w] & (varies[b] != 0 ? all & any : any);
        shrank = shrank || now != later[b][w];
        later[b][w] = now;
      }
    }
  }
  for (const std::uint32_t b : plan_.order)
    for (std::size_t w = 0; w < size; ++w) before[b][w] |= marked[b][w] | later[b][w];
  held_ = std::move(before);
  shown_ = Shown::AtBlocks;
}

bool Marks::move_to(std::uint32_t block) {
  if (shown_ != Shown::AtBlocks) return false;
  return !std::ranges::equal(held_[std::exchange(here_, block)], held_[block]);
}

bool Marks::has(Value v) const {
  if (v >= of_.size() || of_[v] == kUnmarked) return false;
  if (of_[v] == kEverywhere) return true;
  return shown_ == Shown::AtBlocks ? held_.has(here_, of_[v] - kLocal) : shown_ == Shown::Everywhere;
}

}  // namespace regduel::oracles::uniform
