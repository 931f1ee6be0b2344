// See live_map.h. The usual two dataflow problems over bytes, backward for uses and forward for defs, on bit sets a block.
#include "cli/show/live_map.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "ir/cfg.h"

namespace regduel::cli {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;

class LiveMap::Solver {
 public:
  Solver(const Function& f, LiveMap& map) : f_(f), cfg_(f), map_(map), touches_(f.operands.size()) {
    list_holders();
    states_.assign(f.blocks.size(), State(num_bytes_));
    for (const BlockId b : cfg_.reverse_postorder()) summarise(b);
    while (std::exchange(changed_, false))
      for (const BlockId b : cfg_.reverse_postorder()) propagate(b);
    for (const BlockId b : cfg_.reverse_postorder()) walk(b);
  }

 private:
  // Bytes [begin, end) of all bytes of all holders, in one row.
  struct Touch {
    std::uint32_t begin = 0, end = 0;
  };
  struct State {
    explicit State(std::size_t bytes) : exposed(bytes), killed(bytes), defined(bytes), out(bytes), reached(bytes) {}
    Bits exposed;  // read before it is written
    Bits killed;   // written or clobbered, not under a guard
    Bits defined;  // written, perhaps under a guard
    Bits out;      // a use may be reached from the end
    Bits reached;  // a def may have reached the head
  };

  [[nodiscard]] bool counts(const Operand& op) const { return f_.phase == ir::Phase::Virtual ? op.is_vreg() : op.is_preg(); }

  void list_holders() {
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> first_byte;  // by file (0 before allocation) and number
    for (const Inst& i : f_.insts)
      for (const Operand& op : f_.operands_of(i)) {
        if (!counts(op)) continue;
        if (op.is_vreg()) first_byte[{0, f_.root(op.vreg()).value}] = 0;
        else
          for (int u = op.preg().begin(); u < op.preg().end(); ++u)
            first_byte[{ir::index(op.preg().file), static_cast<std::uint32_t>(u)}] = 0;
      }
    for (auto& [key, byte] : first_byte) {
      byte = static_cast<std::uint32_t>(num_bytes_);
      const bool is_virtual = f_.phase == ir::Phase::Virtual;
      const ir::RegFile file = is_virtual ? f_.vregs[key.second].file() : ir::kAllFiles[key.first];
      map_.holders_.push_back({file, key.second, is_virtual ? f_.vregs[key.second].units() : 1});
      num_bytes_ += static_cast<std::size_t>(is_virtual ? f_.vregs[key.second].bytes() : ir::unit_bytes(file));
      holder_of_.resize(num_bytes_, map_.holders_.size() - 1);
    }
    map_.live_.assign(map_.holders_.size(), Bits(map_.moments_));
    map_.starts_.assign(map_.holders_.size(), Bits(f_.insts.size()));
    for (std::size_t k = 0; k < f_.operands.size(); ++k) {
      const Operand& op = f_.operands[k];
      if (!counts(op)) continue;
      if (op.is_vreg()) {
        const ir::Storage s = f_.storage(op);
        const std::uint32_t begin = first_byte[{0, s.root.value}] + s.offset;
        touches_[k] = {begin, begin + s.size};
      } else {
        // The units of an operand follow each other in the list as they do in the file.
        const ir::FileBytes bytes = Function::file_bytes(op);
        const auto size = static_cast<std::uint32_t>(ir::unit_bytes(bytes.file));
        const std::uint32_t begin = first_byte[{ir::index(bytes.file), bytes.begin / size}] + bytes.begin % size;
        touches_[k] = {begin, begin + (bytes.end - bytes.begin)};
      }
    }
  }

  template <class Each>
  void each_touch(const Inst& i, Each&& each) const {
    const auto ops = f_.operands_of(i);
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (counts(ops[k])) each(ops[k], touches_[i.first_operand + k], k);
  }

  void summarise(BlockId b) {
    State& s = states_[b.index()];
    for (const Inst& i : f_.insts_of(b)) {
      if (i.is_deleted()) continue;
      each_touch(i, [&](const Operand& op, Touch t, std::size_t k) {
        if (!op.reads()) return;
        if (i.is_phi()) {
          const BlockId from = f_.targets_of(i)[k - 1];
          for (std::uint32_t c = t.begin; c < t.end; ++c) states_[from.index()].out.set(c);
        } else {
          for (std::uint32_t c = t.begin; c < t.end; ++c)
            if (!s.killed[c]) s.exposed.set(c);
        }
      });
      const bool guarded = ir::is_guarded(f_.operands_of(i));
      each_touch(i, [&](const Operand& op, Touch t, std::size_t) {
        if (!op.writes() && op.role != ir::Role::Clobber) return;
        for (std::uint32_t c = t.begin; c < t.end; ++c) {
          if (op.writes()) s.defined.set(c);
          if (!guarded) s.killed.set(c);
        }
      });
    }
  }

  void propagate(BlockId b) {
    State& s = states_[b.index()];
    for (std::size_t w = 0; w < s.out.words_.size(); ++w) {
      const std::uint64_t in = s.exposed.words_[w] | (s.out.words_[w] & ~s.killed.words_[w]);
      for (const BlockId before : cfg_.predecessors(b)) grow(states_[before.index()].out.words_[w], in);
      for (const BlockId next : cfg_.successors(b))
        grow(states_[next.index()].reached.words_[w], s.reached.words_[w] | s.defined.words_[w]);
    }
  }
  void grow(std::uint64_t& word, std::uint64_t more) {
    changed_ = changed_ || (more & ~word) != 0;
    word |= more;
  }

  // What is live is counted by holder, in bytes, so that the holders at hand are always known.
  void set_live(std::uint32_t byte, bool is_live) {
    if (now_[byte] == is_live) return;
    std::size_t& bytes = live_bytes_[holder_of_[byte]];
    if (is_live) now_.set(byte), ++bytes;
    else now_.reset(byte), --bytes;
  }
  void mark(std::size_t moment) {
    for (std::size_t h = 0; h < live_bytes_.size(); ++h)
      if (live_bytes_[h] > 0) map_.live_[h].set(moment);
  }

  void walk(BlockId b) {
    const State& s = states_[b.index()];
    const ir::Block& block = f_.block(b);
    // What may have been written before each instruction, and at the end.
    std::vector<Bits> reached(block.num_insts + 1, s.reached);
    for (std::uint32_t k = 0; k < block.num_insts; ++k) {
      reached[k + 1] = reached[k];
      define(f_.insts[block.first_inst + k], reached[k + 1]);
    }
    now_ = Bits(num_bytes_);
    live_bytes_.assign(map_.holders_.size(), 0);
    for (std::uint32_t c = 0; c < num_bytes_; ++c)
      if (s.out[c] && reached.back()[c]) set_live(c, true);
    std::uint32_t first_body = 0;
    while (first_body < block.num_insts && f_.insts[block.first_inst + first_body].is_phi()) ++first_body;
    for (std::uint32_t k = block.num_insts; k-- > first_body;) step(block.first_inst + k, reached[k]);
    // All phis write at one moment, behind which the block begins.
    for (std::uint32_t k = 0; k < first_body; ++k) add_defs(f_.insts[block.first_inst + k]);
    for (std::uint32_t k = 0; k < first_body; ++k) {
      mark(2 * (block.first_inst + k));
      mark(2 * (block.first_inst + k) + 1);
    }
  }
  void define(const Inst& i, Bits& reached) const {
    if (i.is_deleted()) return;
    each_touch(i, [&](const Operand& op, Touch t, std::size_t) {
      if (!op.writes()) return;
      for (std::uint32_t c = t.begin; c < t.end; ++c) reached.set(c);
    });
  }
  void add_defs(const Inst& i) {
    if (i.is_deleted()) return;
    each_touch(i, [&](const Operand& op, Touch t, std::size_t) {
      if (!op.writes()) return;
      for (std::uint32_t c = t.begin; c < t.end; ++c) set_live(c, true);
    });
  }

  void step(std::uint32_t at, const Bits& reached) {
    const Inst& i = f_.insts[at];
    const std::size_t reads = 2 * std::size_t{at}, writes = reads + 1;
    if (i.is_deleted()) {
      mark(writes);
      mark(reads);
      return;
    }
    const bool guarded = ir::is_guarded(f_.operands_of(i));
    const Bits after = now_;
    add_defs(i);
    mark(writes);
    each_touch(i, [&](const Operand& op, Touch t, std::size_t) {
      if (!op.writes() && op.role != ir::Role::Clobber) return;
      for (std::uint32_t c = t.begin; c < t.end; ++c) set_live(c, guarded && after[c] && reached[c]);
      if (!guarded && op.writes()) start(at, t);
    });
    each_touch(i, [&](const Operand& op, Touch t, std::size_t) {
      if (!op.reads()) return;
      for (std::uint32_t c = t.begin; c < t.end; ++c)
        if (reached[c]) set_live(c, true);
    });
    // An early-clobber def is written before the uses are read.
    std::vector<Touch> early;
    each_touch(i, [&](const Operand& op, Touch t, std::size_t) {
      if (!op.writes() || !op.is_early_clobber()) return;
      for (std::uint32_t c = t.begin; c < t.end; ++c)
        if (!now_[c]) set_live(c, true), early.push_back({c, c + 1});
    });
    mark(reads);
    for (const Touch t : early) set_live(t.begin, false);
  }
  // The holders of which all bytes are among those written.
  void start(std::uint32_t at, Touch t) {
    for (std::uint32_t c = t.begin; c < t.end; ++c) {
      const std::size_t h = holder_of_[c];
      const bool begins = c == 0 || holder_of_[c - 1] != h;
      if (!begins) continue;
      std::uint32_t end = c;
      while (end < num_bytes_ && holder_of_[end] == h) ++end;
      if (end <= t.end) map_.starts_[h].set(at);
    }
  }

  const Function& f_;
  const ir::Cfg cfg_;
  LiveMap& map_;
  std::vector<Touch> touches_;  // by operand
  std::size_t num_bytes_ = 0;
  std::vector<std::size_t> holder_of_;  // by byte
  std::vector<State> states_;           // by block
  bool changed_ = true;
  Bits now_;
  std::vector<std::size_t> live_bytes_;  // by holder
};

LiveMap::LiveMap(const Function& f) : moments_(2 * f.insts.size()) { Solver(f, *this); }

std::size_t LiveMap::common_moments(std::size_t a, std::size_t b) const {
  std::size_t count = 0;
  for (std::size_t w = 0; w < live_[a].words_.size(); ++w)
    count += static_cast<std::size_t>(std::popcount(live_[a].words_[w] & live_[b].words_[w]));
  return count;
}

std::vector<std::size_t> LiveMap::neighbours(std::size_t holder) const {
  std::vector<std::pair<std::size_t, std::size_t>> by_common;  // moments in common, holder
  for (std::size_t h = 0; h < holders_.size(); ++h) {
    if (h == holder || holders_[h].file != holders_[holder].file) continue;
    if (const std::size_t common = common_moments(holder, h); common > 0) by_common.emplace_back(common, h);
  }
  std::stable_sort(by_common.begin(), by_common.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> result;
  for (const auto& [common, h] : by_common) result.push_back(h);
  return result;
}

std::vector<LiveRange> LiveMap::ranges(std::size_t holder) const {
  std::vector<LiveRange> result;
  for (std::size_t m = 0; m < moments_; ++m) {
    if (!live_[holder][m]) continue;
    const bool goes_on = m > 0 && live_[holder][m - 1] && !(m % 2 == 1 && starts_[holder][m / 2]);
    if (goes_on && !result.empty()) result.back().end = m + 1;
    else result.push_back({m, m + 1});
  }
  return result;
}

std::vector<int> LiveMap::pressure(ir::RegFile file) const {
  std::vector<int> units(moments_), most(moments_ / 2);
  for (std::size_t h = 0; h < holders_.size(); ++h)
    if (holders_[h].file == file)
      for (std::size_t m = 0; m < moments_; ++m) units[m] += live_[h][m] ? holders_[h].units : 0;
  for (std::size_t k = 0; k < most.size(); ++k) most[k] = std::max(units[2 * k], units[2 * k + 1]);
  return most;
}

}  // namespace regduel::cli
