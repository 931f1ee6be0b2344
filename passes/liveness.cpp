#include "passes/liveness.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

// Calls read(root) and write(root, whether it kills) for the vreg operands of an instruction that is no phi: reads before writes.
template <class Read, class Write>
void each_access(const Function& f, const Inst& i, Read&& read, Write&& write) {
  const auto ops = f.operands_of(i);
  const bool is_guarded = ir::is_guarded(ops);
  const auto is_free = [&](const Operand& op) { return op.is_vreg() && !f.vreg(f.root(op.vreg())).is_architectural(); };
  for (const Operand& op : ops)
    if (is_free(op) && needs_old_value(f, op, is_guarded)) read(f.root(op.vreg()));
  for (const Operand& op : ir::defs_of(ops))
    if (is_free(op)) write(f.root(op.vreg()), kills(f, op, is_guarded));
}

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// A block and a root that it reads, kills or writes.
struct Event {
  std::uint32_t root;  // index into the crossing roots
  BlockId block;
};
struct Events {
  std::vector<Event> exposed, killed, written;  // exposed: read before it is killed
  std::vector<Event> edge_reads;                // by a phi of a successor, on the edge from the block
};

std::vector<VRegId> find_crossing_roots(const Function& f) {
  std::vector<std::uint32_t> killed_in(f.vregs.size(), kNone);  // the last block that killed it so far
  std::vector<char> is_crossing(f.vregs.size(), 0);
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (const Inst& i : f.insts_of(BlockId(b))) {
      const auto write = [&](VRegId root, bool is_killed) {
        if (is_killed) killed_in[root.index()] = b;
      };
      if (!i.is_phi()) {
        each_access(
            f, i,
            [&](VRegId root) {
              if (killed_in[root.index()] != b) is_crossing[root.index()] = 1;
            },
            write);
        continue;
      }
      const auto ops = f.operands_of(i);
      const VRegId def = f.root(ops[0].vreg());
      if (kills(f, ops[0], false)) write(def, true);
      else is_crossing[def.index()] = 1;
      for (const Operand& use : ops.subspan(1)) is_crossing[f.root(use.vreg()).index()] = 1;
    }
  std::vector<VRegId> roots;
  for (std::size_t v = 0; v < f.vregs.size(); ++v)
    if (is_crossing[v] != 0 && !f.vregs[v].is_architectural()) roots.emplace_back(v);
  return roots;
}

// Each event once or more.
Events events_of(const Function& f, const std::vector<VRegId>& roots) {
  std::vector<std::uint32_t> index_of(f.vregs.size(), kNone);
  for (std::uint32_t k = 0; k < roots.size(); ++k) index_of[roots[k].index()] = k;
  std::vector<std::uint32_t> killed_in(roots.size(), kNone), written_in(roots.size(), kNone);  // the last block
  Events events;
  for (std::uint32_t n = 0; n < f.blocks.size(); ++n) {
    const BlockId b(n);
    const auto read = [&](VRegId root) {
      const std::uint32_t k = index_of[root.index()];
      if (k != kNone && killed_in[k] != n) events.exposed.push_back({k, b});
    };
    const auto write = [&](VRegId root, bool is_killed) {
      const std::uint32_t k = index_of[root.index()];
      if (k == kNone) return;
      if (std::exchange(written_in[k], n) != n) events.written.push_back({k, b});
      if (is_killed && std::exchange(killed_in[k], n) != n) events.killed.push_back({k, b});
    };
    for (const Inst& i : f.insts_of(b)) {
      if (!i.is_phi()) {
        each_access(f, i, read, write);
        continue;
      }
      // All phis write before anything else reads, and none of them reads here, but for what a def of a part keeps.
      const auto ops = f.operands_of(i);
      const bool is_killed = kills(f, ops[0], false);
      if (!is_killed) read(f.root(ops[0].vreg()));
      write(f.root(ops[0].vreg()), is_killed);
      const auto from = f.targets_of(i);
      for (std::size_t k = 0; k < from.size(); ++k)
        if (const std::uint32_t root = index_of[f.root(ops[k + 1].vreg()).index()]; root != kNone)
          events.edge_reads.push_back({root, from[k]});
    }
  }
  return events;
}

// Where one root after the other is live.
class Walks {
 public:
  Walks(const Function& f, const ir::Cfg& cfg, const std::vector<VRegId>& roots) : cfg_(cfg), marks_(f.blocks.size()) {
    const Events events = events_of(f, roots);
    group(exposed_, events.exposed, roots.size());
    group(killed_, events.killed, roots.size());
    group(written_, events.written, roots.size());
    group(edge_reads_, events.edge_reads, roots.size());
  }

  // Adds the blocks where root `k` is live. Requires that roots are walked once each.
  void walk(std::uint32_t k, VRegId root) {
    stamp_ = k + 1;
    for (const BlockId b : killed_[k]) marks_[b.index()].killed = stamp_;
    // A root is wanted where a use is reached. If it is wanted at the end of a block that does not kill it, it is wanted at the
    // head.
    for (const BlockId b : exposed_[k]) want_in(b);
    for (const BlockId b : edge_reads_[k]) want_out(b);
    while (!wanted_.empty()) {
      const BlockId b = wanted_.back();
      wanted_.pop_back();
      for (const BlockId p : cfg_.predecessors(b)) want_out(p);
    }
    // Of the wanted blocks, those that a def reaches. The last def before a use reaches it through wanted blocks that do not kill.
    for (const BlockId b : written_[k]) reach_out(b, root);
    while (!reached_.empty()) {
      const BlockId b = reached_.back();
      reached_.pop_back();
      for (const BlockId s : cfg_.successors(b)) {
        Mark& m = marks_[s.index()];
        if (m.wanted_in != stamp_ || std::exchange(m.in, stamp_) == stamp_) continue;
        in.emplace_back(root, s);
        reach_out(s, root);
      }
    }
  }

  // A root and a block where it is live, at its head or its end.
  std::vector<std::pair<VRegId, BlockId>> in, out;

 private:
  // The last walk that found it so, by number, from 1 on.
  struct Mark {
    std::uint32_t killed = 0, wanted_in = 0, wanted_out = 0, in = 0, out = 0;
  };
  static void group(Grouped<BlockId>& by_root, const std::vector<Event>& events, std::size_t roots) {
    by_root.build_from(roots, events, [](const Event& e) { return e.root; }, [](const Event& e) { return e.block; });
  }
  void want_in(BlockId b) {
    if (std::exchange(marks_[b.index()].wanted_in, stamp_) != stamp_) wanted_.push_back(b);
  }
  void want_out(BlockId b) {
    Mark& m = marks_[b.index()];
    if (std::exchange(m.wanted_out, stamp_) != stamp_ && m.killed != stamp_) want_in(b);
  }
  void reach_out(BlockId b, VRegId root) {
    Mark& m = marks_[b.index()];
    if (m.wanted_out != stamp_ || std::exchange(m.out, stamp_) == stamp_) return;
    out.emplace_back(root, b);
    reached_.push_back(b);
  }

  const ir::Cfg& cfg_;
  std::vector<Mark> marks_;                                   // by block
  Grouped<BlockId> exposed_, killed_, written_, edge_reads_;  // by root
  std::uint32_t stamp_ = 0;
  std::vector<BlockId> wanted_, reached_;  // still to be looked at
};

}  // namespace

Liveness::Liveness(const Function& f, const ir::Cfg& cfg) : roots_(find_crossing_roots(f)) {
  Walks walks(f, cfg, roots_);
  for (std::uint32_t k = 0; k < roots_.size(); ++k) walks.walk(k, roots_[k]);
  const auto by_block = [&](Grouped<VRegId>& lists, const std::vector<std::pair<VRegId, BlockId>>& found) {
    lists.build_from(f.blocks.size(), found, [](const auto& x) { return x.second.index(); }, [](const auto& x) { return x.first; });
  };
  by_block(in_, walks.in);
  by_block(out_, walks.out);
}

}  // namespace regduel::passes
