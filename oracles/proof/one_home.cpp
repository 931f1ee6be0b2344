// See one_home.h.

#include "oracles/proof/one_home.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "oracles/pair/match.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;

class Roots {
 public:
  explicit Roots(std::size_t roots) : words_((roots + 63) / 64, 0) {}
  [[nodiscard]] bool has(std::uint32_t r) const { return (words_[r / 64] >> r % 64 & 1) != 0; }
  void add(std::uint32_t r) { words_[r / 64] |= std::uint64_t{1} << r % 64; }
  void remove(std::uint32_t r) { words_[r / 64] &= ~(std::uint64_t{1} << r % 64); }
  // Whether this changes anything.
  bool unite(const Roots& other) {
    bool changes = false;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      changes = changes || (other.words_[w] & ~words_[w]) != 0;
      words_[w] |= other.words_[w];
    }
    return changes;
  }
  void intersect(const Roots& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  }

 private:
  std::vector<std::uint64_t> words_;
};

class OneHome {
 public:
  OneHome(const Before& before, const Function& after)
      : f_(before.program()), before_(before), g_(after), partner_(f_.insts.size(), kNone), is_dead_(f_.insts.size(), 0),
        homes_(f_.vregs.size()), live_out_(f_.blocks.size(), Roots(f_.vregs.size())), reach_in_(live_out_) {}

  std::string run() {
    match();
    if (why_.empty()) find_homes();
    if (why_.empty()) find_reach();
    while (why_.empty() && find_dead()) {
    }
    if (why_.empty()) unite_deleted();
    for (const BlockId b : before_.cfg().reverse_postorder())
      if (why_.empty()) check(b);
    return std::move(why_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  static constexpr std::uint32_t kDeleted = 0xFFFFFFFEu;

  void because(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  [[nodiscard]] std::uint32_t root(const Operand& op) const { return f_.root(op.vreg()).value; }
  [[nodiscard]] bool is_deleted(std::uint32_t i) const { return partner_[i] == kDeleted; }

  // --- the program after ------------------------------------------------------------------------------------------
  void match() {
    Unreadable unreadable;
    for (std::size_t b = 0; b < g_.blocks.size(); ++b)
      match_block(
          f_, g_, BlockId(b), unreadable,
          [&](std::uint32_t i, std::uint32_t a) {
            partner_[i] = g_.insts[a].is_deleted() ? kDeleted : a;
            if (!g_.insts[a].is_deleted() && g_.insts[a].op != f_.insts[i].op) because("a copy has become a spill or a refill");
          },
          [&](std::uint32_t a) { inserted(BlockId(b), a); });
    if (unreadable.is_set()) because(unreadable.why());
  }
  void inserted(BlockId b, std::uint32_t a) {
    const Inst& inst = g_.insts[a];
    if (inst.op == ir::Op::Bra) return;
    if (!inst.is_copy() || ir::is_guarded(g_.operands_of(inst))) return because("an instruction is inserted that moves no phi");
    const ir::Block& block = g_.block(b);
    for (std::uint32_t k = a + 1; k + 1 < block.first_inst + block.num_insts; ++k)
      if (!g_.insts[k].is_inserted()) return because("a copy is inserted in the midst of a block");
    copies_.push_back({b, a});
  }

  // --- homes ------------------------------------------------------------------------------------------------------
  void find_homes() {
    for (const BlockId b : before_.cfg().reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
        if (partner_[i] >= kDeleted) continue;
        const auto want = f_.operands_of(f_.insts[i]);
        const auto have = g_.operands_of(g_.insts[partner_[i]]);
        if (want.size() != have.size()) return because("an instruction has other operands");
        for (std::size_t k = 0; k < want.size(); ++k)
          if (want[k].is_vreg()) stand(root(want[k]), have[k]);
        for (std::size_t k = 0; k < want.size(); ++k)
          if (want[k].is_vreg() && want[k].writes() && (ir::is_guarded(want) || !f_.is_whole(want[k])))
            hold_while_read(want, have, k);
      }
    }
  }
  // A guarded def and one of a part hold their home while the instruction reads (FORMAT.md, "Demand").
  void hold_while_read(std::span<const Operand> want, std::span<const Operand> have, std::size_t def) {
    for (std::size_t k = 0; k < want.size(); ++k)
      if (want[k].is_vreg() && want[k].reads() && root(want[k]) != root(want[def]) && have[k].is_preg() && have[def].is_preg() &&
          have[k].preg().overlaps(have[def].preg()))
        because("a guarded def, or one of a part, stands where its instruction reads another value");
  }
  void stand(std::uint32_t r, const Operand& op) {
    if (!op.is_preg()) return because("an operand is no register");
    if (!homes_[r].is_valid()) homes_[r] = op.preg();
    else if (homes_[r] != op.preg()) because(fmt::format("%{} stands in two homes", r));
  }
  // A deleted copy that is not dead: both sides in one home, which one of them may get from the other.
  void unite_deleted() {
    for (bool changes = true; changes && why_.empty();) {
      changes = false;
      for (const BlockId b : before_.cfg().reverse_postorder()) {
        const ir::Block& block = f_.block(b);
        for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i)
          if (is_deleted(i) && !is_dead_[i] && !f_.insts[i].is_phi()) changes = unite(f_.operands_of(f_.insts[i])) || changes;
      }
    }
  }
  bool unite(std::span<const Operand> ops) {
    const std::size_t n = ir::defs_of(ops).size();
    bool changes = false;
    for (std::size_t k = 0; k < n; ++k) {
      if (ops.size() != 2 * n || !f_.is_whole(ops[k]) || !f_.is_whole(ops[n + k])) {
        because("a copy of parts is deleted");
        return false;
      }
      ir::PReg &to = homes_[root(ops[k])], &from = homes_[root(ops[n + k])];
      if (to == from) continue;
      if (to.is_valid() && from.is_valid()) because("a copy between two homes is deleted");
      else if (to.is_valid()) take(root(ops[n + k]), to);
      else take(root(ops[k]), from);
      changes = true;
    }
    return changes;
  }
  // Of a root all of whose operands were deleted.
  void take(std::uint32_t r, ir::PReg home) {
    const ir::VReg& v = f_.vregs[r];
    homes_[r] = home;
    if (home.first % v.alignment() != 0 || (v.fixed.is_valid() && v.fixed != home))
      because(fmt::format("%{} cannot stand in the home that a deleted copy gives it", r));
  }

  // --- liveness ---------------------------------------------------------------------------------------------------
  void find_reach() {
    for (bool changes = true; changes;) {
      changes = false;
      for (const BlockId b : before_.cfg().reverse_postorder()) {
        Roots reach = reach_in_[b.index()];
        for (const Inst& inst : f_.insts_of(b))
          for (const Operand& op : f_.operands_of(inst))
            if (op.is_vreg() && op.writes()) reach.add(root(op));
        for (const BlockId next : before_.cfg().successors(b)) changes = reach_in_[next.index()].unite(reach) || changes;
      }
    }
    for (std::size_t v = 0; v < f_.vregs.size(); ++v)
      if (f_.vregs[v].is_architectural())
        for (Roots& r : reach_in_) r.add(static_cast<std::uint32_t>(v));
  }
  // Backward over one instruction that is no phi.
  void step(std::uint32_t i, Roots& live) const {
    if (is_dead_[i]) return;
    const auto ops = f_.operands_of(f_.insts[i]);
    const bool kills = !ir::is_guarded(ops);
    for (const Operand& op : ops)
      if (op.is_vreg() && op.writes() && kills && f_.is_whole(op)) live.remove(root(op));
    for (const Operand& op : ops)
      if (op.is_vreg() && op.reads()) live.add(root(op));
  }
  // What is live on the edge, before the phis of `to`.
  [[nodiscard]] Roots live_on_edge(BlockId from, BlockId to, Roots live) const {
    const ir::Block& block = f_.block(to);
    std::vector<std::uint32_t> phis;
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts && f_.insts[i].is_phi(); ++i)
      if (!is_dead_[i]) phis.push_back(i);
    for (const std::uint32_t i : phis)
      if (const Operand& def = f_.operands_of(f_.insts[i])[0]; f_.is_whole(def)) live.remove(root(def));
    for (const std::uint32_t i : phis) live.add(root(use_of(i, from)));
    return live;
  }
  [[nodiscard]] const Operand& use_of(std::uint32_t phi, BlockId from) const {
    const auto targets = f_.targets_of(f_.insts[phi]);
    const auto at = static_cast<std::size_t>(std::ranges::find(targets, from) - targets.begin());
    return f_.operands_of(f_.insts[phi])[at + 1];
  }
  // Behind the phis of the block.
  [[nodiscard]] Roots live_in(BlockId b) const {
    Roots live = live_out_[b.index()];
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst + block.num_insts; i-- > block.first_inst && !f_.insts[i].is_phi();) step(i, live);
    return live;
  }
  void find_liveness() {
    for (Roots& r : live_out_) r = Roots(f_.vregs.size());
    const auto& order = before_.cfg().reverse_postorder();
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t k = order.size(); k-- > 0;) {
        const Roots in = live_in(order[k]);
        for (const BlockId p : before_.cfg().predecessors(order[k]))
          if (before_.cfg().is_reachable(p)) changes = live_out_[p.index()].unite(live_on_edge(p, order[k], in)) || changes;
      }
    }
  }
  // Whether more of what was deleted is dead.
  bool find_dead() {
    find_liveness();
    bool found = false;
    for (const BlockId b : before_.cfg().reverse_postorder()) {
      Roots live = live_out_[b.index()];
      const ir::Block& block = f_.block(b);
      for (std::uint32_t i = block.first_inst + block.num_insts; i-- > block.first_inst;) {
        const auto ops = f_.operands_of(f_.insts[i]);
        if (is_deleted(i) && !is_dead_[i] &&
            std::ranges::none_of(ops, [&](const Operand& op) { return op.is_vreg() && op.writes() && live.has(root(op)); })) {
          if (std::ranges::any_of(ops, [](const Operand& op) { return op.role == ir::Role::Clobber; }))
            because("a copy with clobbers is deleted");
          is_dead_[i] = 1;
          found = true;
        }
        if (!f_.insts[i].is_phi()) step(i, live);
      }
    }
    return found;
  }

  // --- the rule ---------------------------------------------------------------------------------------------------
  [[nodiscard]] bool meets(ir::PReg a, ir::PReg b) const { return a.is_valid() && b.is_valid() && a.overlaps(b); }
  // `home` of the root is written where these are live.
  void write(std::uint32_t r, ir::PReg home, const Roots& live) {
    for (std::uint32_t v = 0; v < homes_.size(); ++v)
      if (v != r && live.has(v) && meets(home, homes_[v])) because(fmt::format("%{} is written where %{} is live", r, v));
  }
  void check(BlockId b) {
    const ir::Block& block = f_.block(b);
    // What defs reach, forward, beside what is live, backward.
    std::vector<Roots> reach;
    Roots reached = reach_in_[b.index()];
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      for (const Operand& op : f_.operands_of(f_.insts[i]))
        if (op.is_vreg() && op.writes()) reached.add(root(op));
      reach.push_back(reached);
    }
    Roots live = live_out_[b.index()];
    check_edges(b, reached);
    for (std::uint32_t i = block.first_inst + block.num_insts; i-- > block.first_inst && !f_.insts[i].is_phi();) {
      Roots after = live;
      after.intersect(reach[i - block.first_inst]);
      if (partner_[i] < kDeleted) check(i, after);
      else if (!is_dead_[i] && !f_.insts[i].is_copy()) because("a def is deleted that is not dead");
      step(i, live);
    }
  }
  void check(std::uint32_t i, const Roots& live) {
    const auto ops = f_.operands_of(f_.insts[i]);
    if (f_.insts[i].is_copy() && ops.size() == 2 && f_.is_whole(ops[0]) && f_.is_whole(ops[1]) &&
        homes_[root(ops[0])] == homes_[root(ops[1])])
      return;
    Roots others = live;
    for (const Operand& op : ops)
      if (op.is_vreg() && op.writes()) {
        write(root(op), homes_[root(op)], live);
        others.remove(root(op));
      }
    for (const Operand& op : ops)
      if (op.role == ir::Role::Clobber)
        for (std::uint32_t v = 0; v < homes_.size(); ++v)
          if (others.has(v) && meets(op.preg(), homes_[v])) because(fmt::format("%{} is clobbered where it is live", v));
  }
  // The moves of phis: each inserted copy writes the home of a phi, and a phi whose value is elsewhere writes to its home.
  void check_edges(BlockId b, const Roots& reached) {
    for (const BlockId next : before_.cfg().successors(b)) {
      const ir::Block& block = f_.block(next);
      Roots live = live_in(next), reach = reached;
      std::vector<std::uint32_t> defs;
      for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts && f_.insts[i].is_phi(); ++i) {
        const std::uint32_t d = root(f_.operands_of(f_.insts[i])[0]);
        reach.add(d);
        if (!is_dead_[i] && homes_[d] != homes_[root(use_of(i, b))]) defs.push_back(d);
      }
      live.intersect(reach);
      for (const std::uint32_t d : defs) write(d, homes_[d], live);
    }
    for (const auto& [at, a] : copies_) {
      if (at != b && (at.index() < f_.blocks.size() || g_.block(at).edge_from != b)) continue;
      for (const Operand& op : ir::defs_of(g_.operands_of(g_.insts[a])))
        if (!is_home_of_phi(op.preg(), b)) because("a copy is inserted that moves no phi");
    }
  }
  [[nodiscard]] bool is_home_of_phi(ir::PReg home, BlockId from) const {
    for (const BlockId next : before_.cfg().successors(from))
      for (const Inst& inst : f_.insts_of(next)) {
        if (!inst.is_phi()) break;
        if (homes_[root(f_.operands_of(inst)[0])] == home) return true;
      }
    return false;
  }

  const Function& f_;
  const Before& before_;
  const Function& g_;
  std::vector<std::uint32_t> partner_;  // by instruction before: that after
  std::vector<std::uint8_t> is_dead_;   // by instruction before: deleted, and no instruction reads its defs
  std::vector<ir::PReg> homes_;         // by root; invalid = it stands nowhere
  std::vector<Roots> live_out_, reach_in_;
  struct InsertedCopy {
    BlockId block;
    std::uint32_t inst;
  };
  std::vector<InsertedCopy> copies_;
  std::string why_;
};

}  // namespace

std::string why_not_in_one_home(const Before& before, const ir::Function& after) { return OneHome(before, after).run(); }

}  // namespace regduel::oracles
