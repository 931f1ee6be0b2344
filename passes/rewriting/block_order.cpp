#include "passes/rewriting/block_order.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/planted.h"
#include "passes/liveness.h"
#include "passes/rewriting/mobility.h"

namespace regduel::passes {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

constexpr std::uint32_t kNone = 0xFFFFFFFF;

bool is_better(const Pressure& a, const Pressure& than) {
  constexpr int kPredicates = 6;  // of which every target has as many
  if (a.most_predicates > std::max(kPredicates, than.most_predicates)) return false;
  return std::tie(a.most, a.squares) < std::tie(than.most, than.squares);
}

}  // namespace

BlockOrder::BlockOrder(const Function& f, std::span<const int> units)
    : f_(f), units_(units), is_live_(f.vregs.size(), 0), writer_(f.vregs.size(), kNone), readers_(f.vregs.size()) {}

// --- what lives

void BlockOrder::set_live(std::span<const VRegId> live_out) {
  std::ranges::fill(is_live_, char{0});
  live_ = live_predicates_ = 0;
  for (const VRegId v : live_out) {
    is_live_[v.index()] = 1;
    live_ += units_[v.index()];
    live_predicates_ += f_.vreg(v).file() == ir::RegFile::P ? 1 : 0;
  }
}

int BlockOrder::change(std::uint32_t inst) const {
  const auto ops = f_.operands_of(f_.insts[inst]);
  const bool is_guarded = ir::is_guarded(ops);
  int sum = 0;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!ops[k].is_vreg()) continue;
    const VRegId root = f_.root(ops[k].vreg());
    const bool is_live = is_live_[root.index()] != 0;
    const bool needs = needs_old_value(f_, ops[k], is_guarded);
    if (!needs && is_live) sum -= units_[root.index()];
    // A root that the same instruction writes and reads is counted once for each.
    if (!needs) continue;
    const bool is_killed = std::ranges::any_of(
        ir::defs_of(ops), [&](const Operand& def) { return f_.root(def.vreg()) == root && kills(f_, def, is_guarded); });
    const bool is_first = std::none_of(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(k), [&](const Operand& op) {
      return op.is_vreg() && f_.root(op.vreg()) == root && needs_old_value(f_, op, is_guarded);
    });
    if (is_first && (!is_live || is_killed)) sum += units_[root.index()];
  }
  return sum;
}

void BlockOrder::pass(std::uint32_t inst) {
  const auto ops = f_.operands_of(f_.insts[inst]);
  const bool is_guarded = ir::is_guarded(ops);
  const auto set = [&](VRegId root, bool live) {
    if ((is_live_[root.index()] != 0) == live) return;
    is_live_[root.index()] = live ? 1 : 0;
    live_ += live ? units_[root.index()] : -units_[root.index()];
    if (f_.vreg(root).file() == ir::RegFile::P) live_predicates_ += live ? 1 : -1;
  };
  for (const Operand& op : ir::defs_of(ops))
    if (kills(f_, op, is_guarded)) set(f_.root(op.vreg()), false);
  for (const Operand& op : ops)
    if (op.is_vreg() && needs_old_value(f_, op, is_guarded)) set(f_.root(op.vreg()), true);
}

Pressure BlockOrder::measure(std::span<const std::uint32_t> order, std::span<const VRegId> live_out) {
  set_live(live_out);
  Pressure p;
  const auto see = [&](int dead) {
    p.most = std::max(p.most, live_ + dead);
    p.most_predicates = std::max(p.most_predicates, live_predicates_);
    p.squares += std::int64_t{live_} * live_;
  };
  for (std::size_t k = order.size(); k-- > 0;) {
    int dead = 0;
    for (const Operand& op : ir::defs_of(f_.operands_of(f_.insts[order[k]]))) {
      const std::size_t root = f_.root(op.vreg()).index();
      dead += is_live_[root] != 0 ? 0 : units_[root];
    }
    see(dead);
    pass(order[k]);
  }
  see(0);
  return p;
}

// --- what depends on what

void BlockOrder::make_nodes(std::span<const std::uint32_t> window) {
  nodes_.assign(window.size(), {});
  std::vector<std::uint32_t> touched;
  std::uint32_t last_effect = kNone, last_change = kNone;
  std::vector<std::uint32_t> reads;  // of memory since it changed last
  for (std::uint32_t k = 0; k < window.size(); ++k) {
    const Inst& i = f_.insts[window[k]];
    const auto ops = f_.operands_of(i);
    const bool is_guarded = ir::is_guarded(ops);
    nodes_[k].inst = window[k];
    const auto after = [&](std::uint32_t n) {
      if (n != kNone && n != k) nodes_[k].before.push_back(n);
    };
    for (const Operand& op : ops) {
      if (!op.is_vreg()) continue;
      const std::size_t root = f_.root(op.vreg()).index();
      touched.push_back(static_cast<std::uint32_t>(root));
      if (needs_old_value(f_, op, is_guarded)) after(writer_[root]);
      if (op.writes()) {
        after(writer_[root]);
        for (const std::uint32_t r : readers_[root]) after(r);
      }
    }
    for (const Operand& op : ops)
      if (op.is_vreg() && needs_old_value(f_, op, is_guarded)) readers_[f_.root(op.vreg()).index()].push_back(k);
    for (const Operand& op : ir::defs_of(ops)) {
      const std::size_t root = f_.root(op.vreg()).index();
      writer_[root] = k;
      readers_[root].clear();
    }
    if (is_effect(f_, i, ops)) after(std::exchange(last_effect, k));
    if (changes_memory(i)) {
      for (const std::uint32_t r : reads) after(r);
      reads.clear();
      last_change = k;
    } else if (reads_memory(i)) {
      if (!REGDUEL_PLANTED("schedule-read-before-write")) after(last_change);
      reads.push_back(k);
    }
    std::ranges::sort(nodes_[k].before);
    const auto rest = std::ranges::unique(nodes_[k].before);
    nodes_[k].before.erase(rest.begin(), rest.end());
  }
  for (const Node& n : nodes_)
    for (const std::uint32_t b : n.before) ++nodes_[b].behind;
  for (const std::uint32_t root : touched) {
    writer_[root] = kNone;
    readers_[root].clear();
  }
}

bool BlockOrder::depends(std::uint32_t later, std::uint32_t earlier) const {
  const Inst &a = f_.insts[later], &b = f_.insts[earlier];
  const auto ops_a = f_.operands_of(a), ops_b = f_.operands_of(b);
  if (is_effect(f_, a, ops_a) || b.is_phi() || (reads_memory(a) && changes_memory(b))) return true;
  return std::ranges::any_of(ops_a, [&](const Operand& x) {
    return x.is_vreg() && std::ranges::any_of(ops_b, [&](const Operand& y) {
             return y.is_vreg() && (x.writes() || y.writes()) && f_.root(x.vreg()) == f_.root(y.vreg());
           });
  });
}

// --- orders

void BlockOrder::place_window(std::span<const std::uint32_t> window, Rule rule, std::vector<std::uint32_t>& from_the_end) {
  make_nodes(window);
  std::vector<std::uint32_t> ready;
  for (std::uint32_t k = 0; k < nodes_.size(); ++k)
    if (nodes_[k].behind == 0) ready.push_back(k);
  for (std::uint32_t time = 1; !ready.empty(); ++time) {
    const bool by_source = live_ < rule.threshold;
    const auto key = [&](std::uint32_t k) {
      const int more = by_source ? 0 : change(nodes_[k].inst);
      const std::int64_t need = rule.by_need && !by_source ? -static_cast<std::int64_t>(nodes_[k].needed) : 0;
      return std::tuple(more, need, -static_cast<std::int64_t>(k));
    };
    const auto best = std::ranges::min_element(ready, {}, key);
    const std::uint32_t k = *best;
    *best = ready.back();
    ready.pop_back();
    from_the_end.push_back(nodes_[k].inst);
    pass(nodes_[k].inst);
    for (const std::uint32_t b : nodes_[k].before) {
      nodes_[b].needed = time;
      if (--nodes_[b].behind == 0) ready.push_back(b);
    }
  }
}

std::vector<std::uint32_t> BlockOrder::list(std::span<const std::uint32_t> source, std::span<const VRegId> live_out, Rule rule) {
  std::size_t phis = 0;
  while (f_.insts[source[phis]].is_phi()) ++phis;
  set_live(live_out);
  std::vector<std::uint32_t> from_the_end = {source.back()};
  pass(source.back());
  const auto middle = source.subspan(phis, source.size() - phis - 1);
  for (std::size_t end = middle.size(); end > 0;) {
    const std::size_t begin = end > kWindow ? end - kWindow : 0;
    place_window(middle.subspan(begin, end - begin), rule, from_the_end);
    end = begin;
  }
  std::vector<std::uint32_t> order(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(phis));
  order.insert(order.end(), from_the_end.rbegin(), from_the_end.rend());
  return order;
}

// Reads of memory go up, each as far as it has to for its first reader to be `latency` instructions away.
void BlockOrder::spread_reads(std::vector<std::uint32_t>& order, std::span<const VRegId> live_out, int latency, int most) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Inst& i = f_.insts[order[k]];
    if (!i.has(ir::kMemRead) || is_effect(f_, i, f_.operands_of(i))) continue;
    std::size_t reader = k + 1;
    while (reader < order.size() && !depends(order[reader], order[k])) ++reader;
    const std::vector<std::uint32_t> before = order;
    std::size_t at = k;
    while (at > 0 && reader - at < static_cast<std::size_t>(latency) && !depends(order[at], order[at - 1])) {
      std::swap(order[at], order[at - 1]);
      --at;
    }
    if (at != k && measure(order, live_out).most > most) order = before;
  }
}

std::vector<std::uint32_t> BlockOrder::best(std::span<const std::uint32_t> source, std::span<const VRegId> live_out, int latency) {
  std::vector<std::uint32_t> best(source.begin(), source.end());
  Pressure least = measure(best, live_out);
  const int most = least.most;
  constexpr std::array<int, 4> kPercent = {0, 60, 80, 90};  // of the pressure of the source, below which its order is kept
  for (const int percent : kPercent)
    for (const bool by_need : {false, true}) {
      std::vector<std::uint32_t> order = list(source, live_out, {most * percent / 100, by_need});
      const Pressure p = measure(order, live_out);
      if (!is_better(p, least)) continue;
      least = p;
      best = std::move(order);
    }
  if (latency > 0) spread_reads(best, live_out, latency, most);
  return best;
}

}  // namespace regduel::passes
