#include "reference/program/liveness.h"

#include <algorithm>

#include "base/planted.h"
#include "reference/program/worklist.h"

namespace regduel::reference {
namespace {

void set(std::vector<std::uint64_t>& bits, std::size_t at, std::size_t bit) {
  bits[at + bit / 64] |= std::uint64_t{1} << (bit % 64);
}

}  // namespace

Liveness::Liveness(const Code& code) : code_(code), live_(code.temps), first_write_(code.temps.size(), kNever) {
  find_touches();
  std::vector<std::uint32_t> order = reverse_postorder(code_);
  solve_reach(order);
  std::ranges::reverse(order);
  solve_live(order);
  touches_ = std::vector<Touch>();
  first_touch_ = std::vector<std::uint32_t>();
  written_ = Bits();
}

void Liveness::find_touches() {
  bit_of_.assign(code_.num_values, -1);
  std::vector<std::uint32_t> touch_of(code_.num_values, 0);  // the last one of each value, plus 1
  first_touch_.resize(code_.blocks.size() + 1);
  for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
    first_touch_[b] = static_cast<std::uint32_t>(touches_.size());
    if (!code_.blocks[b].is_reachable) continue;
    const auto touch = [&](TempId v) -> Touch& {
      if (touch_of[v] <= first_touch_[b]) {
        touches_.push_back({.value = v});
        touch_of[v] = static_cast<std::uint32_t>(touches_.size());
      }
      return touches_[touch_of[v] - 1];
    };
    for (const CodeInst& inst : code_.insts_of(code_.blocks[b])) {
      for (const Ref& r : code_.refs_of(inst)) {
        if (r.temp >= code_.num_values || ((r.flags & kKills) && !(r.flags & kReads))) continue;
        Touch& t = touch(r.temp);
        if (t.is_killed) continue;
        bit_of_[r.temp] = 0;
        if (r.flags & kReads) t.is_exposed = true;
      }
      for (const Ref& r : code_.refs_of(inst)) {
        if (!(r.flags & kWrites) || r.temp >= code_.num_values) continue;
        Touch& t = touch(r.temp);
        t.is_written = true;
        if (r.flags & kKills) t.is_killed = true;
      }
    }
  }
  first_touch_.back() = static_cast<std::uint32_t>(touches_.size());
  for (TempId v = 0; v < code_.num_values; ++v) {
    if (bit_of_[v] < 0) continue;
    bit_of_[v] = static_cast<std::int32_t>(global_.size());
    global_.push_back(v);
  }
  words_ = (global_.size() + 63) / 64;
}

void Liveness::solve_reach(const std::vector<std::uint32_t>& order) {
  const std::size_t n = code_.blocks.size();
  reach_.assign(n * words_, 0);
  written_.assign(n * words_, 0);
  for (std::size_t b = 0; b < n; ++b)
    for (std::uint32_t k = first_touch_[b]; k < first_touch_[b + 1]; ++k)
      if (const Touch& t = touches_[k]; t.is_written && is_global(t.value))
        set(written_, b * words_, static_cast<std::size_t>(bit_of_[t.value]));
  Worklist work(n, order);
  work.run([&](std::uint32_t b) {
    for (const std::uint32_t s : code_.successors[b]) {
      bool changed = false;
      for (std::size_t w = 0; w < words_; ++w) {
        std::uint64_t& to = reach_[s * words_ + w];
        const std::uint64_t add = (reach_[b * words_ + w] | written_[b * words_ + w]) & ~to;
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
  Bits killed(n * words_, 0);
  for (const std::uint32_t b : order) {
    for (std::uint32_t k = first_touch_[b]; k < first_touch_[b + 1]; ++k) {
      const Touch& t = touches_[k];
      if (!is_global(t.value)) continue;
      const auto bit = static_cast<std::size_t>(bit_of_[t.value]);
      if (t.is_exposed) set(in_, b * words_, bit);
      if (t.is_killed) set(killed, b * words_, bit);
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
      out &= reach_[at] | written_[at];
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
