// MaxLive by a walk for each vreg (Appel's "liveness by variable", on byte masks), then one backward walk of each block over
// what is live at its end. Deviation: a byte is live only where some def of it may reach, as FORMAT.md has it, so each vreg
// has a forward walk too. A block that does not touch a vreg keeps only how many units live through it. Tested by
// max_live_test.cpp, quality_test.cpp.

#include "oracles/quality/max_live.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/grouped.h"
#include "ir/cfg.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::Cfg;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Role;

using Mask = std::uint32_t;  // bytes of a root: none has more than 32

Mask mask_of(const ir::Storage& s) {
  const Mask all = s.size >= 32 ? ~Mask{0} : (Mask{1} << s.size) - 1;
  return s.offset >= 32 ? 0 : all << s.offset;
}

// What a vreg operand touches.
struct Touch {
  std::uint32_t root = 0;
  Mask mask = 0;
  Mask reached = 0;  // bytes of the root that some def may have written before
};

// One read or write of a root, in program order.
struct Event {
  std::uint32_t operand = 0;  // index into f.operands
  BlockId block;
  bool is_write = false, kills = false, is_phi = false;
};

class Liveness {
 public:
  Liveness(const Function& f, const Cfg& cfg) : f_(f), cfg_(cfg), num_blocks_(f.blocks.size()) {}

  ir::PerFile<int> run() {
    collect();
    exposed_.assign(num_blocks_, {});
    through_.assign(num_blocks_, {});
    touched_.reserve(num_blocks_);
    work_.reserve(num_blocks_);
    seen_.reserve(f_.vregs.size());
    for (std::size_t v = 0; v < f_.vregs.size(); ++v)
      if (!events_[v].empty()) one_root(static_cast<std::uint32_t>(v));
    live_out_.build_from(
        num_blocks_, found_, [](const LiveOut& l) { return l.block.index(); }, [](const LiveOut& l) { return l.live; });
    live_.assign(f_.vregs.size(), 0);
    for (const BlockId b : cfg_.reverse_postorder()) walk(b);
    return peak_;
  }

 private:
  struct BlockState {
    Mask exposed = 0, killed = 0, defined = 0;  // of the root at hand: read before written; written; perhaps written
    Mask edge_uses = 0;                         // read at the end, by phis of successors
    Mask live_in = 0, live_out = 0, reach_in = 0;
    bool touched = false, has_events = false;
  };
  struct Live {
    std::uint32_t root;
    Mask mask;
  };
  struct LiveOut {
    BlockId block;
    Live live;
  };
  // A write of the instruction at hand.
  struct Write {
    Touch touch;
    Mask live_after;
    bool is_early;
  };

  // Events of each root, reachable blocks only, in program order.
  void collect() {
    touches_.resize(f_.operands.size());
    std::vector<Event> events;
    events.reserve(f_.operands.size());
    for (std::size_t b = 0; b < num_blocks_; ++b) {
      if (!cfg_.is_reachable(BlockId(b))) continue;
      for (const Inst& i : f_.insts_of(BlockId(b))) list(i, BlockId(b), events);
    }
    events_.build_from(
        f_.vregs.size(), events, [&](const Event& e) { return touches_[e.operand].root; }, [](const Event& e) { return e; });
  }
  // Operands stand defs first, but an instruction reads before it writes.
  void list(const Inst& i, BlockId b, std::vector<Event>& events) {
    const auto ops = f_.operands_of(i);
    for (std::uint32_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_vreg()) continue;
      const ir::Storage s = f_.storage(ops[k]);
      touches_[i.first_operand + k] = {s.root.value, mask_of(s), 0};
      const BlockId at = i.is_phi() && k > 0 ? f_.targets_of(i)[k - 1] : b;
      if (ops[k].reads() && cfg_.is_reachable(at))
        events.push_back({.operand = i.first_operand + k, .block = at, .is_phi = i.is_phi()});
    }
    const auto defs = static_cast<std::uint32_t>(ir::defs_of(ops).size());
    const bool kills = !ir::is_guarded(ops);
    for (std::uint32_t k = 0; k < defs; ++k)
      events.push_back({.operand = i.first_operand + k, .block = b, .is_write = true, .kills = kills});
  }

  BlockState& state(BlockId b) {
    BlockState& s = exposed_[b.index()];
    if (!std::exchange(s.touched, true)) touched_.push_back(b);
    return s;
  }

  void one_root(std::uint32_t root) {
    const std::span<const Event> events = events_[root];
    // Within each block: what is read before it is written, what is written. The uses of a phi belong to the ends of its
    // predecessors.
    for (const Event& e : events) {
      BlockState& s = state(e.block);
      s.has_events = true;
      const Mask mask = touches_[e.operand].mask;
      if (!e.is_write) {
        if (e.is_phi) s.edge_uses |= mask;
        else s.exposed |= mask & ~s.killed;
        continue;
      }
      s.defined |= mask;
      if (e.kills) s.killed |= mask;
    }
    std::vector<BlockId>& work = work_;
    bool crosses_edges = false;  // else it lives inside blocks only
    for (const BlockId b : touched_) {
      BlockState& s = exposed_[b.index()];
      s.live_out |= s.edge_uses;
      s.live_in = s.exposed | (s.live_out & ~s.killed);
      if (s.live_in != 0) work.push_back(b);
      crosses_edges = crosses_edges || (s.live_in | s.live_out) != 0;
    }
    if (crosses_edges) solve(root);
    // What has reached each operand, for the walk through the blocks: reset `defined` to grow it event by event.
    for (const BlockId b : touched_) exposed_[b.index()].defined = 0;
    for (const Event& e : events) {
      BlockState& s = exposed_[e.block.index()];
      Touch& touch = touches_[e.operand];
      touch.reached = s.reach_in | s.defined;
      if (e.is_write) s.defined |= touch.mask;
    }
    for (; !touched_.empty(); touched_.pop_back()) exposed_[touched_.back().index()] = {};
  }

  // Adds to found_ and through_ for the root at hand, from the blocks that touch it; work_ holds those at whose head it is live.
  void solve(std::uint32_t root) {
    std::vector<BlockId>& work = work_;
    // Backward: from where may a use be reached.
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      const Mask in = exposed_[b.index()].live_in;
      for (const BlockId before : cfg_.predecessors(b)) {
        if (!cfg_.is_reachable(before)) continue;
        BlockState& s = state(before);
        if ((in & ~s.live_out) == 0) continue;
        s.live_out |= in;
        const Mask grown = s.exposed | (s.live_out & ~s.killed);
        if (grown == s.live_in) continue;
        s.live_in = grown;
        work.push_back(before);
      }
    }
    // Forward, through those blocks only: where may a def reach.
    for (const BlockId b : touched_)
      if (exposed_[b.index()].defined != 0) work.push_back(b);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      const Mask out = exposed_[b.index()].reach_in | exposed_[b.index()].defined;
      for (const BlockId next : cfg_.successors(b)) {
        BlockState& s = exposed_[next.index()];
        if ((out & s.live_in & ~s.reach_in) == 0) continue;
        s.reach_in |= out & s.live_in;
        work.push_back(next);
      }
    }
    for (const BlockId b : touched_) {
      BlockState& s = exposed_[b.index()];
      const Mask live = s.live_out & (s.reach_in | s.defined);
      if (live == 0) continue;
      if (s.has_events) found_.push_back({b, {root, live}});
      else through_[b.index()][index(f_.vregs[root].file())] += f_.vregs[root].units();
    }
  }

  // Between two moments vregs are only added, so that the most of a moment shows as soon as the last one is.
  void add(std::uint32_t root, Mask mask) {
    if (live_[root] == 0 && mask != 0) {
      const std::size_t file = index(f_.vregs[root].file());
      units_[file] += f_.vregs[root].units();
      peak_[file] = std::max(peak_[file], units_[file]);
    }
    live_[root] |= mask;
  }
  void keep(std::uint32_t root, Mask mask) {
    if (live_[root] != 0 && (live_[root] & mask) == 0) units_[index(f_.vregs[root].file())] -= f_.vregs[root].units();
    live_[root] &= mask;
  }

  void walk(BlockId b) {
    // No peak by itself: on the way to the block all these are live behind the last event of any of them.
    units_ = through_[b.index()];
    for (const Live& l : live_out_[b.index()]) {
      seen_.push_back(l.root);
      add(l.root, l.mask);
    }
    const auto insts = f_.insts_of(b);
    std::size_t first_body = 0;
    while (first_body < insts.size() && insts[first_body].is_phi()) ++first_body;
    for (std::size_t k = insts.size(); k-- > first_body;) step(insts[k]);
    // All phis at once: their defs are written at one moment, behind which the block begins.
    for (std::size_t k = 0; k < first_body; ++k) {
      const Touch& def = touches_[insts[k].first_operand];
      seen_.push_back(def.root);
      add(def.root, def.mask);
    }
    for (; !seen_.empty(); seen_.pop_back()) live_[seen_.back()] = 0;
  }

  void step(const Inst& i) {
    const auto ops = f_.operands_of(i);
    const bool guarded = ir::is_guarded(ops);
    written_.clear();
    for (std::size_t k = 0; k < ops.size() && ops[k].writes(); ++k) {
      const Touch& t = touches_[i.first_operand + k];
      written_.push_back({t, live_[t.root], ops[k].is_early_clobber()});
    }
    // Writes: what is live after, and the defs. A guarded def leaves the old value in place: it is live before where it is live
    // after.
    for (const Write& w : written_) add(w.touch.root, w.touch.mask);
    for (const Write& w : written_) keep(w.touch.root, w.touch.reached & (guarded ? w.live_after : ~w.touch.mask));
    // Reads: what is live before, and the early-clobber defs.
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_vreg() || !ops[k].reads()) continue;
      const Touch& t = touches_[i.first_operand + k];
      seen_.push_back(t.root);
      add(t.root, t.mask & t.reached);
    }
    early_.clear();
    for (const Write& w : written_) {
      if (!w.is_early || live_[w.touch.root] != 0) continue;
      add(w.touch.root, w.touch.mask);
      early_.push_back(w.touch.root);
    }
    for (const std::uint32_t root : early_) keep(root, 0);
  }

  const Function& f_;
  const Cfg& cfg_;
  std::size_t num_blocks_;
  Grouped<Event> events_;            // by root
  std::vector<BlockState> exposed_;  // of the root at hand, by block
  std::vector<BlockId> touched_, work_;
  std::vector<LiveOut> found_;             // where the block has events of the root
  std::vector<ir::PerFile<int>> through_;  // by block: units that are live all through it
  Grouped<Live> live_out_;                 // by block, as found_
  std::vector<Touch> touches_;             // by operand
  std::vector<Mask> live_;                 // by root, in the block at hand
  std::vector<std::uint32_t> seen_;        // roots that may be live somewhere in the block at hand
  std::vector<Write> written_;
  std::vector<std::uint32_t> early_;
  ir::PerFile<int> units_ = {}, peak_ = {};
};

}  // namespace

ir::PerFile<int> max_live(const Function& f, const Cfg& cfg) { return Liveness(f, cfg).run(); }

}  // namespace regduel::oracles
