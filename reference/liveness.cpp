#include "reference/liveness.h"

#include <algorithm>

#include "base/planted.h"

namespace regduel::reference {
namespace {

// Reachable blocks, each after its predecessors as far as loops allow.
std::vector<std::uint32_t> reverse_postorder(const Code& code) {
  std::vector<std::uint32_t> order;
  std::vector<std::uint8_t> visited(code.blocks.size(), 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{0, 0}};
  visited[0] = 1;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == code.successors[block].size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::uint32_t s = code.successors[block][next++];
    if (visited[s]) continue;
    visited[s] = 1;
    stack.emplace_back(s, 0);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// The blocks that need another look, visited in sweeps along a given order: most blocks then come after all that they depend on.
class Worklist {
 public:
  Worklist(std::size_t blocks, const std::vector<std::uint32_t>& order) : order_(order), waiting_(blocks, 0) {
    for (const std::uint32_t b : order_) waiting_[b] = 1;
  }
  void push(std::uint32_t b) {
    waiting_[b] = 1;
    more_ = true;
  }
  template <class Visit>
  void run(Visit&& visit) {
    do {
      more_ = false;
      for (const std::uint32_t b : order_)
        if (waiting_[b]) {
          waiting_[b] = 0;
          visit(b);
        }
    } while (more_);
  }

 private:
  const std::vector<std::uint32_t>& order_;
  std::vector<std::uint8_t> waiting_;
  bool more_ = false;
};

void set(std::vector<std::uint64_t>& bits, std::size_t at, std::size_t bit) {
  bits[at + bit / 64] |= std::uint64_t{1} << (bit % 64);
}

}  // namespace

Liveness::Liveness(const Code& code) : code_(code), live_(code.temps), first_write_(code.temps.size(), kNever) {
  find_globals();
  std::vector<std::uint32_t> order = reverse_postorder(code_);
  solve_reach(order);
  std::ranges::reverse(order);
  solve_live(order);
}

void Liveness::find_globals() {
  bit_of_.assign(code_.num_values, -1);
  std::vector<std::uint32_t> killed_in(code_.num_values, 0xFFFFFFFFu);
  for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
    if (!code_.blocks[b].is_reachable) continue;
    for (const CodeInst& inst : code_.insts_of(code_.blocks[b])) {
      for (const Ref& r : code_.refs_of(inst))
        if (r.temp < code_.num_values && killed_in[r.temp] != b && ((r.flags & kReads) || !(r.flags & kKills)) &&
            bit_of_[r.temp] < 0) {
          bit_of_[r.temp] = static_cast<std::int32_t>(global_.size());
          global_.push_back(r.temp);
        }
      for (const Ref& r : code_.refs_of(inst))
        if (r.temp < code_.num_values && (r.flags & kKills)) killed_in[r.temp] = b;
    }
  }
  std::sort(global_.begin(), global_.end());
  for (std::size_t g = 0; g < global_.size(); ++g) bit_of_[global_[g]] = static_cast<std::int32_t>(g);
  words_ = (global_.size() + 63) / 64;
}

void Liveness::solve_reach(const std::vector<std::uint32_t>& order) {
  const std::size_t n = code_.blocks.size();
  reach_.assign(n * words_, 0);
  Bits written(n * words_, 0);
  for (std::size_t b = 0; b < n; ++b)
    for (const CodeInst& inst : code_.insts_of(code_.blocks[b]))
      for (const Ref& r : code_.refs_of(inst))
        if ((r.flags & kWrites) && r.temp < code_.num_values && bit_of_[r.temp] >= 0)
          set(written, b * words_, static_cast<std::size_t>(bit_of_[r.temp]));
  Worklist work(n, order);
  work.run([&](std::uint32_t b) {
    for (const std::uint32_t s : code_.successors[b]) {
      bool changed = false;
      for (std::size_t w = 0; w < words_; ++w) {
        std::uint64_t& to = reach_[s * words_ + w];
        const std::uint64_t add = (reach_[b * words_ + w] | written[b * words_ + w]) & ~to;
        changed = changed || add != 0;
        to |= add;
      }
      if (changed) work.push(s);
    }
  });
}

void Liveness::solve_live(const std::vector<std::uint32_t>& order) {
  const std::size_t n = code_.blocks.size();
  in_.assign(n * words_, 0);
  out_.assign(n * words_, 0);
  Bits killed(n * words_, 0), written(n * words_, 0);
  for (const std::uint32_t b : order) {
    const CodeBlock& block = code_.blocks[b];
    for (const CodeInst& inst : code_.insts_of(block)) {
      for (const Ref& r : code_.refs_of(inst)) {
        if (r.temp >= code_.num_values || bit_of_[r.temp] < 0) continue;
        const auto bit = static_cast<std::size_t>(bit_of_[r.temp]);
        if ((r.flags & kReads) && !get(killed, b, bit)) set(in_, b * words_, bit);
      }
      for (const Ref& r : code_.refs_of(inst)) {
        if (r.temp >= code_.num_values || bit_of_[r.temp] < 0) continue;
        const auto bit = static_cast<std::size_t>(bit_of_[r.temp]);
        if (r.flags & kKills) set(killed, b * words_, bit);
        if (r.flags & kWrites) set(written, b * words_, bit);
      }
    }
    for (std::size_t w = b * words_; w < (b + 1) * words_; ++w) in_[w] &= reach_[w];
  }
  Worklist work(n, order);
  work.run([&](std::uint32_t b) {
    bool changed = false;
    for (std::size_t w = 0; w < words_; ++w) {
      const std::size_t at = b * words_ + w;
      std::uint64_t out = 0;
      for (const std::uint32_t s : code_.successors[b]) {
        out |= in_[s * words_ + w];
        if (REGDUEL_PLANTED("briggs-liveness-of-first-successor")) break;
      }
      out &= reach_[at] | written[at];
      out_[at] = out;
      const std::uint64_t add = out & ~killed[at] & reach_[at] & ~in_[at];
      in_[at] |= add;
      changed = changed || add != 0;
    }
    if (!changed) return;
    for (const std::uint32_t p : code_.predecessors[b])
      if (code_.blocks[p].is_reachable) work.push(p);
  });
}

std::vector<TempId> Liveness::list(const Bits& bits, std::size_t block) const {
  std::vector<TempId> result;
  for_each(bits, block, [&](TempId t) { result.push_back(t); });
  return result;
}

}  // namespace regduel::reference
