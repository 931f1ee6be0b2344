// MaxLive by a walk for each vreg (Appel's "liveness by variable", on byte masks), then one backward walk of each block over
// what is live at its end. Deviation: a byte is live only where some def of it may reach, as FORMAT.md has it, so each vreg
// has a forward walk too. Tested by max_live_test.cpp, quality_test.cpp.

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

// One read or write of a root, in program order.
struct Event {
  std::uint32_t operand = 0;  // index into f.operands
  std::uint32_t root = 0;
  BlockId block;
  bool is_write = false, kills = false, is_phi = false;
  Mask mask = 0;
};

class Liveness {
 public:
  Liveness(const Function& f, const Cfg& cfg) : f_(f), cfg_(cfg), num_blocks_(f.blocks.size()) {}

  ir::PerFile<int> run() {
    collect();
    live_out_.resize(num_blocks_);
    reached_.assign(f_.operands.size(), 0);
    exposed_.assign(num_blocks_, {});
    for (std::size_t v = 0; v < f_.vregs.size(); ++v)
      if (!events_[v].empty()) one_root(static_cast<std::uint32_t>(v));
    for (const BlockId b : cfg_.reverse_postorder()) walk(b);
    return peak_;
  }

 private:
  struct BlockState {
    Mask exposed = 0, killed = 0, defined = 0;  // of the root at hand: read before written; written; perhaps written
    Mask edge_uses = 0;                         // read at the end, by phis of successors
    Mask live_in = 0, live_out = 0, reach_in = 0;
    bool touched = false;
  };
  struct Live {
    std::uint32_t root;
    Mask mask;
  };
  // A read or write of the instruction at hand.
  struct Access {
    std::uint32_t root;
    Mask mask, reached, live_after;
    bool is_early;
  };

  // Events of each root, reachable blocks only, in program order.
  void collect() {
    std::vector<Event> events;
    events.reserve(f_.operands.size());
    for (std::size_t b = 0; b < num_blocks_; ++b) {
      if (!cfg_.is_reachable(BlockId(b))) continue;
      for (const Inst& i : f_.insts_of(BlockId(b))) {
        const bool guarded = ir::is_guarded(f_.operands_of(i));
        // Operands stand defs first, but an instruction reads before it writes.
        for (const bool writes : {false, true}) list(i, BlockId(b), writes, guarded, events);
      }
    }
    events_.build_from(
        f_.vregs.size(), events, [](const Event& e) { return e.root; }, [](const Event& e) -> const Event& { return e; });
  }
  void list(const Inst& i, BlockId b, bool writes, bool guarded, std::vector<Event>& events) const {
    const auto ops = f_.operands_of(i);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_vreg() || !(writes ? ops[k].writes() : ops[k].reads())) continue;
      const ir::Storage s = f_.storage(ops[k]);
      Event e;
      e.operand = i.first_operand + static_cast<std::uint32_t>(k);
      e.root = s.root.value;
      e.mask = mask_of(s);
      e.is_phi = i.is_phi();
      e.block = i.is_phi() && k > 0 ? f_.targets_of(i)[k - 1] : b;
      e.is_write = writes;
      e.kills = writes && !guarded;
      if (cfg_.is_reachable(e.block)) events.push_back(e);
    }
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
      if (!e.is_write) {
        if (e.is_phi) s.edge_uses |= e.mask;
        else s.exposed |= e.mask & ~s.killed;
        continue;
      }
      s.defined |= e.mask;
      if (e.kills) s.killed |= e.mask;
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
      reached_[e.operand] = s.reach_in | s.defined;
      if (e.is_write) s.defined |= e.mask;
    }
    for (; !touched_.empty(); touched_.pop_back()) exposed_[touched_.back().index()] = {};
  }

  // Fills live_out_ for the root at hand, from the blocks that touch it; work_ holds those at whose head it is live.
  void solve(std::uint32_t root) {
    std::vector<BlockId>& work = work_;
    // Backward: from where may a use be reached.
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      const Mask in = state(b).live_in;
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
    work.assign(touched_.begin(), touched_.end());
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      const Mask out = state(b).reach_in | state(b).defined;
      if (out == 0) continue;
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
      if (live != 0) live_out_[b.index()].push_back({root, live});
    }
  }

  void add(std::uint32_t root, Mask mask) {
    if (live_[root] == 0 && mask != 0) units_[index(f_.vregs[root].file())] += f_.vregs[root].units();
    live_[root] |= mask;
  }
  void keep(std::uint32_t root, Mask mask) {
    if (live_[root] != 0 && (live_[root] & mask) == 0) units_[index(f_.vregs[root].file())] -= f_.vregs[root].units();
    live_[root] &= mask;
  }
  void measure() {
    for (std::size_t k = 0; k < peak_.size(); ++k) peak_[k] = std::max(peak_[k], units_[k]);
  }

  void walk(BlockId b) {
    if (live_.empty()) live_.assign(f_.vregs.size(), 0);
    units_ = {};
    for (const Live& l : live_out_[b.index()]) add(l.root, l.mask);
    const auto insts = f_.insts_of(b);
    std::size_t first_body = 0;
    while (first_body < insts.size() && insts[first_body].is_phi()) ++first_body;
    seen_.clear();
    for (const Live& l : live_out_[b.index()]) seen_.push_back(l.root);
    for (std::size_t k = insts.size(); k-- > first_body;) step(insts[k]);
    // All phis at once: their defs are written at one moment, behind which the block begins.
    for (std::size_t k = 0; k < first_body; ++k) {
      const ir::Storage s = f_.storage(f_.operands_of(insts[k])[0]);
      seen_.push_back(s.root.value);
      add(s.root.value, mask_of(s));
    }
    measure();
    for (const std::uint32_t root : seen_) live_[root] = 0;
  }

  void step(const Inst& i) {
    const auto ops = f_.operands_of(i);
    const bool guarded = ir::is_guarded(ops);
    written_.clear();
    read_.clear();
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_vreg()) continue;
      const ir::Storage s = f_.storage(ops[k]);
      const Access a{s.root.value, mask_of(s), reached_[i.first_operand + k], live_[s.root.index()], ops[k].is_early_clobber()};
      if (ops[k].writes()) written_.push_back(a);
      if (ops[k].reads()) read_.push_back(a);
    }
    // Writes: what is live after, and the defs. A guarded def leaves the old value in place: it is live before where it is live
    // after.
    for (const Access& w : written_) add(w.root, w.mask);
    measure();
    for (const Access& w : written_) keep(w.root, w.reached & (guarded ? w.live_after : ~w.mask));
    // Reads: what is live before, and the early-clobber defs.
    for (const Access& r : read_) {
      seen_.push_back(r.root);
      add(r.root, r.mask & r.reached);
    }
    early_.clear();
    for (const Access& w : written_) {
      if (!w.is_early || live_[w.root] != 0) continue;
      add(w.root, w.mask);
      early_.push_back(w.root);
    }
    measure();
    for (const std::uint32_t root : early_) keep(root, 0);
  }

  const Function& f_;
  const Cfg& cfg_;
  std::size_t num_blocks_;
  Grouped<Event> events_;            // by root
  std::vector<BlockState> exposed_;  // of the root at hand, by block
  std::vector<BlockId> touched_, work_;
  std::vector<std::vector<Live>> live_out_;
  std::vector<Mask> reached_;        // by operand: bytes of its root that some def may have written before it
  std::vector<Mask> live_;           // by root, in the block at hand
  std::vector<std::uint32_t> seen_;  // roots that may be live somewhere in the block at hand
  std::vector<Access> written_, read_;
  std::vector<std::uint32_t> early_;
  ir::PerFile<int> units_ = {}, peak_ = {};
};

}  // namespace

ir::PerFile<int> max_live(const Function& f, const Cfg& cfg) { return Liveness(f, cfg).run(); }

}  // namespace regduel::oracles
