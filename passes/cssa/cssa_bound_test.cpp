// How many copies cssa leaves, against the fewest that any partition of the vregs and hubs leaves: found by trying all of them, on
// small random programs in SSA form. Interference and values are found here in another way than in the pass: from the live sets at
// each def (Chaitin) and the chains of copies, place by place.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "ir/cfg.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "passes/cssa/cssa.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;
using ir::VRegId;

// --- small programs in SSA form: up to 8 vregs are defs or uses of phis
constexpr std::size_t kMostValues = 8;

class Grower {
 public:
  explicit Grower(std::uint64_t seed) : random_(seed) {}

  Function run() {
    f_.name = "small";
    const int blocks = 3 + below(5);
    choose_edges(blocks);
    find_dominators();
    ir::VReg predicate;
    predicate.cls = ir::RegClass::P;
    predicate.type = ir::TypeKind::Pred;
    predicate.width = 1;
    condition_ = f_.add_vreg(predicate);
    // Defs first, so that phis can use what comes later.
    defs_.resize(successors_.size());
    phis_.resize(successors_.size());
    for (std::size_t b = 0; b < successors_.size(); ++b) {
      const int phis = b > 0 && predecessors_[b].size() > 1 ? below(4) : 0;
      for (int k = 0; k < phis; ++k) phis_[b].push_back(value());
      const int insts = (b == 0 ? 1 : 0) + below(3);
      for (int k = 0; k < insts; ++k) defs_[b].push_back(value());
    }
    for (std::size_t b = 0; b < successors_.size(); ++b) block(b);
    return std::move(f_);
  }

 private:
  [[nodiscard]] int below(int n) { return static_cast<int>(random_.below(static_cast<std::uint32_t>(n))); }
  VRegId value() { return f_.add_vreg({}); }

  void choose_edges(int blocks) {
    const auto n = static_cast<std::size_t>(blocks);
    successors_.resize(n);
    predecessors_.resize(n);
    for (std::size_t b = 0; b < n; ++b) {
      std::set<std::size_t> to;
      if (b + 1 < n) to.insert(b + 1);  // so that all are reachable
      const int more = below(3);
      for (int k = 0; k < more; ++k) to.insert(1 + static_cast<std::size_t>(below(blocks - 1)));
      for (const std::size_t s : to) {
        successors_[b].push_back(s);
        predecessors_[s].push_back(b);
      }
    }
  }
  void find_dominators() {
    const std::size_t n = successors_.size();
    std::set<std::size_t> all;
    for (std::size_t b = 0; b < n; ++b) all.insert(b);
    dominators_.assign(n, all);
    dominators_[0] = {0};
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = 1; b < n; ++b) {
        std::set<std::size_t> now = all;
        for (const std::size_t p : predecessors_[b]) {
          std::set<std::size_t> both;
          std::set_intersection(now.begin(), now.end(), dominators_[p].begin(), dominators_[p].end(),
                                std::inserter(both, both.end()));
          now = both;
        }
        now.insert(b);
        if (now == dominators_[b]) continue;
        dominators_[b] = now;
        changed = true;
      }
    }
  }
  // What is defined on every path to the end of a block, or to the `before`th of its instructions.
  std::vector<VRegId> available(std::size_t b, std::optional<std::size_t> before = {}) {
    std::vector<VRegId> list;
    for (const std::size_t d : dominators_[b]) {
      list.insert(list.end(), phis_[d].begin(), phis_[d].end());
      const std::size_t end = d == b && before ? *before : defs_[d].size();
      list.insert(list.end(), defs_[d].begin(), defs_[d].begin() + static_cast<std::ptrdiff_t>(end));
    }
    return list;
  }
  VRegId one_of(const std::vector<VRegId>& list) { return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))]; }
  void append(Op op, std::string_view mnemonic, std::vector<Operand> ops, std::vector<BlockId> targets = {}, int flags = 0) {
    Inst i;
    i.id = ir::InstId(next_++);
    i.op = op;
    i.flags = static_cast<std::uint16_t>(flags);
    if (!mnemonic.empty()) i.mnemonic = f_.symbols.intern(mnemonic);
    f_.append(i, ops, targets);
  }
  static Operand def(VRegId v) { return Operand::of_vreg(Role::Def, v); }
  static Operand use(VRegId v) { return Operand::of_vreg(Role::Use, v); }

  void block(std::size_t b) {
    f_.begin_block();
    for (const VRegId v : phis_[b]) {
      std::vector<Operand> ops = {def(v)};
      std::vector<BlockId> from;
      for (const std::size_t p : predecessors_[b]) {
        ops.push_back(use(one_of(available(p))));
        from.emplace_back(p);
      }
      append(Op::Phi, {}, ops, from);
    }
    if (b == 0) append(Op::Named, "setp", {def(condition_), Operand::of_imm(0)});
    for (std::size_t k = 0; k < defs_[b].size(); ++k) {
      const auto list = available(b, k);
      if (list.empty() || below(5) == 0) append(Op::Named, "ld", {def(defs_[b][k]), Operand::of_imm(next_)}, {}, ir::kMemRead);
      else if (below(3) == 0) append(Op::Copy, {}, {def(defs_[b][k]), use(one_of(list))});
      else append(Op::Named, "add", {def(defs_[b][k]), use(one_of(list)), use(one_of(list))});
    }
    if (const auto list = available(b); !list.empty() && below(2) == 0)
      append(Op::Named, "st", {use(one_of(list))}, {}, ir::kMemWrite);
    std::vector<BlockId> to;
    for (const std::size_t s : successors_[b]) to.emplace_back(s);
    if (to.empty()) append(Op::Exit, {}, {});
    else if (to.size() == 1) append(Op::Bra, {}, {}, to);
    else if (to.size() == 2) append(Op::CBra, {}, {use(condition_)}, to);
    else append(Op::MBra, {}, {use(one_of(available(b)))}, to);
  }

  Random random_;
  Function f_;
  VRegId condition_;
  std::uint32_t next_ = 0;
  std::vector<std::vector<std::size_t>> successors_, predecessors_;
  std::vector<std::set<std::size_t>> dominators_;
  std::vector<std::vector<VRegId>> phis_, defs_;  // by block
};

// --- the fewest copies
class Fewest {
 public:
  Fewest(const Function& f, bool by_values) : f_(f), cfg_(f), by_values_(by_values) {
    list_nodes();
    if (nodes_.size() <= most_nodes()) {
      find_values();
      find_interference();
    }
  }
  [[nodiscard]] bool is_small() const { return num_values_ > 0 && num_values_ <= kMostValues && nodes_.size() <= most_nodes(); }
  // Requires is_small().
  [[nodiscard]] int run() {
    class_of_.assign(nodes_.size(), 0);
    best_ = 1 << 20;
    list_places();
    place_next(0, 0, 0);
    return best_;
  }

 private:
  // A copy of a phi taken apart: at the head of a block, at its end, or on the critical edge to another.
  struct Pair {
    std::size_t block = 0;
    bool at_head = false;
    int edge_to = -1;      // a block, where it is on the edge to it
    int def = 0, use = 0;  // nodes

    [[nodiscard]] bool is_at_end() const { return !at_head && edge_to < 0; }
  };
  [[nodiscard]] static std::size_t most_nodes() { return 12; }
  [[nodiscard]] int node(int key) { return nodes_.try_emplace(key, static_cast<int>(nodes_.size())).first->second; }
  [[nodiscard]] int node_of(VRegId v) const {
    const auto at = nodes_.find(static_cast<int>(v.value));
    return at == nodes_.end() ? -1 : at->second;
  }
  void list_nodes() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b)
      for (const Inst& i : f_.insts_of(BlockId(b))) {
        if (!i.is_phi()) break;
        const int hub = node(-1 - static_cast<int>(i.id.value));
        const auto ops = f_.operands_of(i);
        pairs_.push_back({b, true, -1, node(static_cast<int>(ops[0].vreg().value)), hub});
        for (std::size_t k = 0; k < f_.targets_of(i).size(); ++k) {
          const BlockId from = f_.targets_of(i)[k];
          const int to = cfg_.is_critical(from, BlockId(b)) ? static_cast<int>(b) : -1;
          pairs_.push_back({from.index(), false, to, hub, node(static_cast<int>(ops[k + 1].vreg().value))});
        }
      }
    num_values_ = static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.first >= 0; }));
  }

  // --- values: of a vreg, that at the start of its chain of copies; of a phi of one value, that value
  using Value = std::pair<int, int>;  // of a vreg: {0, v}; of nothing else: {1, number}
  void find_values() {
    if (!by_values_) return;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Inst& i : f_.insts) {
        const auto ops = f_.operands_of(i);
        if (!i.is_copy() && !i.is_phi()) continue;
        const VRegId v = ops[0].vreg();
        std::set<std::uint32_t> of;
        for (const Operand& op : ops.subspan(1))
          if (value(op.vreg()) != v.value) of.insert(value(op.vreg()));
        if (of.size() != 1 || value(v) != v.value) continue;
        value_[v.value] = *of.begin();
        changed = true;
      }
    }
  }
  [[nodiscard]] std::uint32_t value(VRegId v) const {
    std::uint32_t at = v.value;
    for (auto next = value_.find(at); next != value_.end(); next = value_.find(at)) at = next->second;
    return at;
  }

  // --- interference: what is live, with its value, behind each place that writes
  using Live = std::map<int, Value>;  // by node
  [[nodiscard]] Value own(int n) const {
    for (const auto& [key, number] : nodes_)
      if (number == n)
        return key >= 0 && by_values_ ? Value{0, static_cast<int>(value(VRegId(static_cast<std::size_t>(key))))} : Value{2, key};
    return {};
  }
  void meet(const Live& live) {
    for (auto x = live.begin(); x != live.end(); ++x)
      for (auto y = std::next(x); y != live.end(); ++y)
        if (x->second != y->second)
          interferes_[static_cast<std::size_t>(x->first)] |= 1u << y->first,
              interferes_[static_cast<std::size_t>(y->first)] |= 1u << x->first;
  }
  void find_interference() {
    interferes_.assign(nodes_.size(), 0);
    std::vector<std::set<int>> in(f_.blocks.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = f_.blocks.size(); b-- > 0;) {
        std::set<int> head = walk(b, in, false);
        if (head == in[b]) continue;
        in[b] = std::move(head);
        changed = true;
      }
    }
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) walk(b, in, true);
  }
  // Backwards through a block; what vregs live at its head. `meets`: each set of what lives at one point interferes.
  std::set<int> walk(std::size_t b, const std::vector<std::set<int>>& in, bool meets) {
    std::set<int> live;  // nodes of vregs
    for (const BlockId s : cfg_.successors(BlockId(b))) live.insert(in[s.index()].begin(), in[s.index()].end());
    for (const Pair& p : pairs_)
      if (p.edge_to >= 0 && p.block == b) live.insert(p.use);
    const auto with = [&](const Live& hubs) {
      if (!meets) return;
      Live all = hubs;
      for (const int n : live) all[n] = own(n);
      meet(all);
    };
    // The end of the block: its hubs hold what was copied. The terminator reads while they live.
    Live hubs;
    for (const Pair& p : pairs_)
      if (p.is_at_end() && p.block == b) hubs[p.def] = own(p.use);
    const auto insts = f_.insts_of(BlockId(b));
    with(hubs);
    for (const Operand& op : f_.operands_of(insts.back()))
      if (op.is_vreg() && node_of(op.vreg()) >= 0) live.insert(node_of(op.vreg()));
    with(hubs);
    for (const Pair& p : pairs_)
      if (p.is_at_end() && p.block == b) live.insert(p.use);
    with({});
    std::size_t n = insts.size() - 1;
    for (; n-- > 0 && !insts[n].is_phi();) {
      const auto ops = f_.operands_of(insts[n]);
      for (const Operand& op : ir::defs_of(ops))
        if (node_of(op.vreg()) >= 0) live.insert(node_of(op.vreg()));
      with({});
      for (const Operand& op : ir::defs_of(ops)) live.erase(node_of(op.vreg()));
      for (const Operand& op : ir::uses_of(ops))
        if (op.is_vreg() && node_of(op.vreg()) >= 0) live.insert(node_of(op.vreg()));
      with({});
    }
    // The head: what its copies write lives behind them, the hubs before.
    for (const Pair& p : pairs_)
      if (p.at_head && p.block == b) live.insert(p.def);
    with({});
    for (const Pair& p : pairs_)
      if (p.at_head && p.block == b) live.erase(p.def);
    Live heads;
    for (const Pair& p : pairs_)
      if (p.at_head && p.block == b) heads[p.use] = by_values_ ? own(p.def) : own(p.use);
    with(heads);
    return live;
  }

  // --- all partitions, node by node; what the copies at one place cost is known once all their nodes have a class
  void list_places() {
    std::map<std::tuple<std::size_t, bool, int>, std::vector<Pair>> places;
    for (const Pair& p : pairs_) places[{p.block, p.at_head, p.edge_to}].push_back(p);
    known_at_.resize(nodes_.size());
    for (const auto& [place, pairs] : places) {
      int last = 0;
      for (const Pair& p : pairs) last = std::max({last, p.def, p.use});
      known_at_[static_cast<std::size_t>(last)].push_back(pairs);
    }
  }
  void place_next(std::size_t n, int classes, int cost) {
    if (cost >= best_) return;
    if (n == nodes_.size()) {
      best_ = cost;
      return;
    }
    for (int c = 0; c <= classes; ++c) {
      bool fits = true;
      for (std::size_t m = 0; m < n && fits; ++m) fits = class_of_[m] != c || (interferes_[n] >> m & 1) == 0;
      if (!fits) continue;
      class_of_[n] = c;
      int more = 0;
      for (const auto& pairs : known_at_[n]) more += cost_of(pairs);
      place_next(n + 1, std::max(classes, c + 1), cost + more);
    }
  }
  // Copies that the classes leave at one place: one a class that is written, and one for each cycle.
  [[nodiscard]] int cost_of(const std::vector<Pair>& pairs) {
    from_.clear();  // class written, class read; -1 where the value is there already
    for (const Pair& p : pairs) {
      const int def = class_of_[static_cast<std::size_t>(p.def)], use = class_of_[static_cast<std::size_t>(p.use)];
      const auto at = std::find_if(from_.begin(), from_.end(), [&](const auto& move) { return move.first == def; });
      if (at == from_.end()) from_.emplace_back(def, def == use ? -1 : use);
      else if (def == use) at->second = -1;
    }
    std::erase_if(from_, [](const auto& move) { return move.second < 0; });
    int sum = static_cast<int>(from_.size());
    if (pairs.front().edge_to >= 0) return sum;  // parallel in a phi
    // A cycle is counted at its smallest class.
    for (const auto& [start, unused] : from_) {
      int at = start;
      for (std::size_t steps = 0; steps <= from_.size(); ++steps) {
        const auto next = std::find_if(from_.begin(), from_.end(), [&](const auto& move) { return move.first == at; });
        if (next == from_.end()) break;
        at = next->second;
        if (at < start) break;
        if (at == start) {
          ++sum;
          break;
        }
      }
    }
    return sum;
  }

  const Function& f_;
  const ir::Cfg cfg_;
  const bool by_values_;
  std::map<int, int> nodes_;  // key (a vreg, or -1 - number of a phi) -> node
  std::vector<Pair> pairs_;
  std::size_t num_values_ = 0;
  std::map<std::uint32_t, std::uint32_t> value_;
  std::vector<std::uint32_t> interferes_;                 // by node, a bit a node
  std::vector<std::vector<std::vector<Pair>>> known_at_;  // by node: the places of which it is the last
  std::vector<int> class_of_;
  std::vector<std::pair<int, int>> from_;
  int best_ = 0;
};

// New copies, and what new phis move.
int left_in(const Function& before, const Function& after) {
  const auto known = before.next_inst_id();
  std::ptrdiff_t left = 0;
  for (const Inst& i : after.insts) {
    const auto ops = after.operands_of(i);
    if (i.id < known) continue;
    left += std::count_if(ops.begin() + 1, ops.end(), [&](const Operand& op) { return !op.names_same(ops[0]); });
  }
  return static_cast<int>(left);
}

void compare(int programs, std::uint64_t seed, bool by_values, bool coalesce = true) {
  std::int64_t left = 0, fewest = 0;
  int worse = 0, seen = 0;
  const std::array<std::pair<std::string, std::string>, 2> knobs = {
      {{"cssa-usedessa", by_values ? "1" : "0"}, {"cssa-coalesce", coalesce ? "1" : "0"}}};
  for (std::uint64_t n = seed; seen < programs; ++n) {
    const Function f = Grower(n).run();
    Fewest best(f, by_values);
    if (!best.is_small()) continue;
    ++seen;
    ASSERT_TRUE(ir::check(f, 1).empty()) << ir::print(f);
    const auto after = cssa().run(f, ir::default_target(), {.knobs = knobs});
    ASSERT_TRUE(after && ir::check(*after, 1).empty()) << ir::print(*after);
    const int mine = left_in(f, *after), bound = best.run();
    left += mine;
    fewest += bound;
    if (mine > bound) ++worse;
    EXPECT_GE(mine, bound) << "no bound: " << n << "\n" << ir::print(f) << ir::print(*after);
    if (::testing::Test::HasFailure()) return;
  }
  std::printf("%d programs, by %s: %lld copies left, at least %lld; more than the least in %d programs\n", seen,
              by_values ? "values" : "liveness", static_cast<long long>(left), static_cast<long long>(fewest), worse);
  if (coalesce) EXPECT_LE(left * 100, fewest * 105);
  else EXPECT_GT(left * 100, fewest * 150);
}

TEST(CssaBound, CopiesLeftByLiveness) { compare(10'000, 1, false); }
TEST(CssaBound, CopiesLeftByValues) { compare(10'000, 1'000'000, true); }
TEST(CssaBound, WithoutCoalescingThereAreHalfAsManyAgain) { compare(300, 2'000'000, false, false); }

}  // namespace
}  // namespace regduel::passes
