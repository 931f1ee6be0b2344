#include "passes/rewriting/sink.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/planted.h"
#include "ir/cfg.h"
#include "passes/liveness.h"
#include "passes/rewriting/dominators.h"
#include "passes/rewriting/mobility.h"
#include "passes/rewriting/values.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

class Sinking {
 public:
  Sinking(const Function& f, Order& order, ir::Fuel* fuel)
      : f_(f), order_(order), fuel_(fuel), cfg_(f), dominators_(cfg_), values_(f, cfg_, dominators_), liveness_(f, cfg_),
        units_(units_of_roots(f)), block_(f.insts.size()) {
    for (std::uint32_t b = 0; b < order.size(); ++b)
      for (const std::uint32_t n : order[b]) block_[n] = BlockId(b);
  }

  // Readers before what they read, so that a chain goes as a whole.
  void run() {
    const auto blocks = cfg_.reverse_postorder();
    for (std::size_t k = blocks.size(); k-- > 0;) {
      std::vector<std::uint32_t>& list = order_[blocks[k].index()];
      std::vector<std::uint32_t> stays;
      const std::vector<std::uint32_t> all = list;
      for (std::size_t n = all.size(); n-- > 0;) {
        const BlockId to = target_of(all[n]);
        if (to.is_valid() && pays(all[n], to) && ir::may(fuel_, "sink")) move(all[n], to);
        else stays.push_back(all[n]);
      }
      std::ranges::reverse(stays);
      order_[blocks[k].index()] = std::move(stays);
    }
  }

 private:
  [[nodiscard]] bool is_movable(std::uint32_t n) const {
    const Inst& i = f_.insts[n];
    const auto ops = f_.operands_of(i);
    if (i.is_phi() || is_effect(f_, i, ops) || ir::is_guarded(ops)) return false;
    if (reads_memory(i) && !REGDUEL_PLANTED("schedule-loads-pass-stores")) return false;
    return std::ranges::all_of(ops, [&](const Operand& op) {
      if (!op.is_vreg()) return true;
      const VRegId root = f_.root(op.vreg());
      return (op.reads() && f_.vreg(root).is_architectural()) || values_.is_value(root);
    });
  }
  // Where a value is read: of a phi, at the end of the predecessor.
  [[nodiscard]] BlockId block_of(const Values::Read& r) const { return f_.insts[r.inst].is_phi() ? r.block : block_[r.inst]; }

  // Invalid where it stays.
  [[nodiscard]] BlockId target_of(std::uint32_t n) const {
    if (!is_movable(n)) return {};
    const BlockId from = block_[n];
    BlockId to;
    for (const Operand& op : ir::defs_of(f_.operands_of(f_.insts[n])))
      for (const Values::Read& r : values_.reads_of(f_.root(op.vreg()))) {
        const BlockId b = block_of(r);
        if (!cfg_.is_reachable(b)) continue;
        if (b == from) return {};
        to = to.is_valid() ? dominators_.common(to, b) : b;
      }
    while (to.is_valid() && to != from && is_repeated_without(to, from)) to = dominators_.immediate(to);
    return to == from ? BlockId() : to;
  }
  // Whether `b` is executed again without `without` in between: it is in a loop that the other is not in.
  [[nodiscard]] bool is_repeated_without(BlockId b, BlockId without) const {
    const auto [known, is_new] = repeated_.try_emplace({b, without}, false);
    if (!is_new) return known->second;
    std::vector<char> seen(f_.blocks.size(), 0);
    std::vector<BlockId> work = {b};
    while (!work.empty() && !known->second) {
      const BlockId at = work.back();
      work.pop_back();
      for (const BlockId s : cfg_.successors(at)) {
        if (s == b) known->second = true;
        if (s == without || std::exchange(seen[s.index()], char{1}) != 0) continue;
        work.push_back(s);
      }
    }
    return known->second;
  }

  // The units that live on, up to `to`, so that an instruction can read this root there.
  [[nodiscard]] int cost(VRegId root, BlockId to, std::uint32_t reader, int depth) const {
    if (f_.vreg(root).is_architectural() || liveness_.is_live_in(to, root)) return 0;
    const int units = units_[root.index()];
    const std::uint32_t def = values_.def_of(root);
    const bool goes_along = depth > 0 && def != Values::kNone && is_movable(def) && block_[def] != to &&
                            ir::defs_of(f_.operands_of(f_.insts[def])).size() == 1 &&
                            std::ranges::all_of(values_.reads_of(root), [&](const Values::Read& r) { return r.inst == reader; });
    return goes_along ? std::min(units, cost_of_operands(def, to, depth - 1)) : units;
  }
  [[nodiscard]] int cost_of_operands(std::uint32_t n, BlockId to, int depth) const {
    int sum = 0;
    std::vector<VRegId> seen;
    for (const Operand& op : f_.operands_of(f_.insts[n])) {
      if (!op.is_vreg() || !op.reads()) continue;
      const VRegId root = f_.root(op.vreg());
      if (std::ranges::find(seen, root) != seen.end()) continue;
      seen.push_back(root);
      sum += cost(root, to, n, depth);
    }
    return sum;
  }
  [[nodiscard]] bool pays(std::uint32_t n, BlockId to) const {
    constexpr int kDepth = 6;  // of a chain that goes along
    int gain = 0;
    for (const Operand& op : ir::defs_of(f_.operands_of(f_.insts[n]))) gain += units_[f_.root(op.vreg()).index()];
    return gain > cost_of_operands(n, to, kDepth);
  }
  // In front of the first reader, else of the terminator.
  void move(std::uint32_t n, BlockId to) {
    std::vector<std::uint32_t>& list = order_[to.index()];
    const auto reads = [&](std::uint32_t m) {
      if (f_.insts[m].is_phi()) return false;
      return std::ranges::any_of(ir::defs_of(f_.operands_of(f_.insts[n])), [&](const Operand& def) {
        return std::ranges::any_of(values_.reads_of(f_.root(def.vreg())), [&](const Values::Read& r) { return r.inst == m; });
      });
    };
    auto at = std::ranges::find_if(list, reads);
    if (at == list.end()) --at;
    list.insert(at, n);
    block_[n] = to;
  }

  const Function& f_;
  Order& order_;
  ir::Fuel* fuel_;
  const ir::Cfg cfg_;
  const Dominators dominators_;
  const Values values_;
  const Liveness liveness_;
  const std::vector<int> units_;  // by root
  std::vector<BlockId> block_;    // by instruction, where it is now
  mutable std::map<std::pair<BlockId, BlockId>, bool> repeated_;
};

}  // namespace

Order source_order(const Function& f) {
  Order order(f.blocks.size());
  for (std::size_t b = 0; b < order.size(); ++b)
    for (std::uint32_t k = 0; k < f.blocks[b].num_insts; ++k) order[b].push_back(f.blocks[b].first_inst + k);
  return order;
}

Function in_order(const Function& f, const Order& order) {
  Function out = f.clone_header();
  out.reserve(f.insts.size(), f.operands.size());
  for (std::size_t b = 0; b < order.size(); ++b) {
    out.begin_block(f.blocks[b]);
    for (const std::uint32_t n : order[b]) out.append(f.insts[n], f.operands_of(f.insts[n]), f.targets_of(f.insts[n]));
  }
  return out;
}

std::vector<int> units_of_roots(const Function& f) {
  std::vector<int> units(f.vregs.size(), 0), defs(f.vregs.size(), 0);
  std::vector<char> is_repeatable(f.vregs.size(), 0);
  for (const Inst& i : f.insts) {
    const auto ops = f.operands_of(i);
    const bool reads_register = std::ranges::any_of(ops, [](const Operand& op) { return op.is_vreg() && op.reads(); });
    for (const Operand& op : ir::defs_of(ops)) {
      const std::size_t root = f.root(op.vreg()).index();
      ++defs[root];
      if (i.is_repeatable() && !reads_register) is_repeatable[root] = 1;
    }
  }
  for (std::size_t v = 0; v < units.size(); ++v) {
    const ir::VReg& r = f.vregs[v];
    const bool is_counted = !r.alias.is_valid() && !r.is_architectural() && !(defs[v] == 1 && is_repeatable[v] != 0);
    units[v] = is_counted && r.file() == ir::RegFile::R ? r.units() : 0;
  }
  return units;
}

void sink(const Function& f, Order& order, ir::Fuel* fuel) { Sinking(f, order, fuel).run(); }

}  // namespace regduel::passes
