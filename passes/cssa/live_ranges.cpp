#include "passes/cssa/live_ranges.h"

#include <algorithm>
#include <utility>

#include "base/grouped.h"

namespace regduel::passes::conventional {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

enum What : std::uint8_t { kReads = 1, kWrites = 2, kKills = 4, kEarly = 8, kPinned = 16 };

// One operand of a root. Of the mentions at one place the reads come first.
struct Mention {
  BlockId block;
  std::uint32_t place = 0;
  std::uint8_t what = 0;

  [[nodiscard]] bool is(What w) const { return (what & w) != 0; }
  [[nodiscard]] std::uint32_t read_point() const { return 2 * place; }
  [[nodiscard]] std::uint32_t write_point() const { return 2 * place + (is(kEarly) ? 0 : 1); }
};

class Builder {
 public:
  Builder(const Function& f, const ir::Cfg& cfg, const PhiCopies& phis, std::vector<std::uint32_t>& begin)
      : f_(f), cfg_(cfg), phis_(phis), begin_(begin) {
    begin_.assign(f.blocks.size() + 1, 0);
    for (std::size_t b = 0; b < f.blocks.size(); ++b) begin_[b + 1] = begin_[b] + 2 * places_of(BlockId(b));
    in_.assign(f.blocks.size(), 0);
    out_ = kills_ = defined_in_ = defined_out_ = in_;
  }

  void run(bool by_values, std::vector<live::Segments>& ranges) {
    const std::size_t num_vregs = f_.vregs.size();
    is_wanted_.assign(num_vregs, 0);
    for (const PhiCopy& c : phis_.copies())
      if (phis_.is_free(c.outside.vreg())) is_wanted_[c.outside.vreg().index()] = 1;
    std::vector<char> has_phi = is_wanted_;
    if (by_values) each_plain_copy([&](VRegId def, VRegId use) { is_wanted_[def.index()] = is_wanted_[use.index()] = 1; });
    mentions_.build(num_vregs, [&](auto add) { each_mention(add); });
    ranges.assign(num_vregs + phis_.phis().size(), {});
    value_.resize(num_vregs);
    for (std::size_t v = 0; v < num_vregs; ++v) value_[v] = static_cast<std::uint32_t>(v);
    is_strict_.assign(num_vregs, 0);
    for (std::size_t v = 0; v < num_vregs; ++v)
      if (is_wanted_[v] != 0) one(v, has_phi[v] != 0);
    if (by_values) find_values();
    for (const Found& p : found_) ranges[p.vreg].add(p.begin, p.end, value_of(p.vreg));
    hubs(by_values, std::span(ranges).subspan(num_vregs));
  }

 private:
  // --- places
  [[nodiscard]] std::uint32_t places_of(BlockId b) const {
    return static_cast<std::uint32_t>(f_.block(b).num_insts - f_.phis_of(b).size()) + 4;
  }
  [[nodiscard]] std::uint32_t first_place(BlockId b) const { return begin_[b.index()] / 2; }
  [[nodiscard]] std::uint32_t head_place(BlockId b) const { return first_place(b) + 1; }
  [[nodiscard]] std::uint32_t last_place(BlockId b) const { return begin_[b.index() + 1] / 2 - 1; }
  [[nodiscard]] std::uint32_t end_place(BlockId b) const { return last_place(b) - 2; }  // of the copies to hubs

  template <class Add>
  void mention(Add& add, BlockId b, std::uint32_t place, const Operand& op, int what) const {
    const VRegId root = f_.root(op.vreg());
    if (is_wanted_[root.index()] != 0) add(root.index(), Mention{b, place, static_cast<std::uint8_t>(what)});
  }
  // kWrites or more: of a def.
  [[nodiscard]] int written(const Operand& def, bool guarded) const {
    const bool kills = !guarded && f_.is_whole(def);
    return kWrites | (kills ? kKills : 0) | (def.is_early_clobber() ? kEarly : 0);
  }
  template <class Add>
  void each_mention(Add& add) const {
    for (std::size_t n = 0; n < f_.blocks.size(); ++n) {
      const BlockId b(n);
      std::uint32_t place = first_place(b);
      for (const Inst& i : f_.phis_of(b)) {
        if (!phis_.is_apart(i)) mention(add, b, place, f_.operands_of(i)[0], written(f_.operands_of(i)[0], false) | kEarly);
      }
      ++place;
      for (const std::uint32_t c : phis_.at_head(b))
        mention(add, b, place, phis_.copies()[c].outside, written(phis_.copies()[c].outside, false));
      ++place;
      for (const Inst& i : f_.insts_of(b)) {
        if (i.is_phi()) continue;
        if (i.is_terminator()) {
          for (const std::uint32_t c : phis_.at_end(b)) mention(add, b, place, phis_.copies()[c].outside, kReads);
          ++place;
        }
        instruction(add, b, place++, i);
      }
      for (const std::uint32_t c : phis_.on_edges(b)) mention(add, b, place, phis_.copies()[c].outside, kReads);
      for (const BlockId s : cfg_.successors(b))
        for (const Inst& i : f_.phis_of(s))
          if (!phis_.is_apart(i)) mention(add, b, place, f_.operands_of(i)[f_.phi_use_from(i, b)], kReads);
    }
  }
  template <class Add>
  void instruction(Add& add, BlockId b, std::uint32_t place, const Inst& i) const {
    const auto ops = f_.operands_of(i);
    const bool guarded = ir::is_guarded(ops);
    bool early = false;
    for (const Operand& op : ops) early = early || op.is_early_clobber();
    for (const Operand& op : ops)
      if (op.is_vreg() && op.reads()) mention(add, b, place, op, kReads | (early ? kPinned : 0));
    for (const Operand& op : ir::defs_of(ops)) mention(add, b, place, op, written(op, guarded));
  }
  // Copies of one pair between whole free roots, without a guard: def and use may have one value.
  template <class Visit>
  void each_plain_copy(Visit&& visit) const {
    for (const BlockId b : cfg_.reverse_postorder())
      for (const Inst& i : f_.insts_of(b)) {
        const auto ops = f_.operands_of(i);
        if (!i.is_copy() || ops.size() < 2 || ir::copy_pairs(ops).size() != 1 || ir::is_guarded(ops) || ops[0].is_early_clobber())
          continue;
        const auto is_whole = [&](const Operand& op) { return op.part.is_whole() && phis_.is_free(op.vreg()); };
        if (is_whole(ops[0]) && is_whole(ops[1])) visit(ops[0].vreg(), ops[1].vreg());
      }
  }

  // --- one range. The marks of blocks are the number of the vreg + 1, so that none need be cleared.
  void one(std::size_t v, bool needs_range) {
    const auto mentions = mentions_[v];
    if (mentions.empty()) return;
    mark_ = static_cast<std::uint32_t>(v) + 1;
    go_back(mentions);
    const bool is_one_def = std::count_if(mentions.begin(), mentions.end(), [](const Mention& m) { return m.is(kWrites); }) == 1;
    is_strict_[v] = is_one_def && in_[0] != mark_ && std::all_of(mentions.begin(), mentions.end(), [&](const Mention& m) {
                      return !m.is(kWrites) || (m.is(kKills) && cfg_.is_reachable(m.block));
                    });
    if (!needs_range) return;
    go_on(mentions);
    // Blocks without a mention through which it lives.
    for (const BlockId b : live_)
      if (has_mention_.empty() || !std::binary_search(has_mention_.begin(), has_mention_.end(), b))
        if (defined_in_[b.index()] == mark_) add(begin_[b.index()], begin_[b.index() + 1]);
    for (std::size_t first = 0, last = 0; first < mentions.size(); first = last) {
      while (last < mentions.size() && mentions[last].block == mentions[first].block) ++last;
      within(mentions.subspan(first, last - first));
    }
  }
  void add(std::uint32_t begin, std::uint32_t end) { found_.push_back({mark_ - 1, begin, end}); }
  // in_, out_, kills_: from uses that no def of their block precedes, back to the defs.
  void go_back(std::span<const Mention> mentions) {
    live_.clear();
    has_mention_.clear();
    const auto is_live_in = [&](BlockId b) {
      if (in_[b.index()] == mark_) return;
      in_[b.index()] = mark_;
      live_.push_back(b);
    };
    for (std::size_t first = 0, last = 0; first < mentions.size(); first = last) {
      const BlockId b = mentions[first].block;
      has_mention_.push_back(b);
      bool reads = false;
      for (last = first; last < mentions.size() && mentions[last].block == b; ++last) {
        if (kills_[b.index()] == mark_) continue;
        reads = reads || mentions[last].is(kReads);
        if (mentions[last].is(kKills)) kills_[b.index()] = mark_;
      }
      if (reads) is_live_in(b);
    }
    for (std::size_t k = 0; k < live_.size(); ++k)
      for (const BlockId p : cfg_.predecessors(live_[k])) {
        out_[p.index()] = mark_;
        if (kills_[p.index()] != mark_) is_live_in(p);
      }
  }
  // defined_in_, defined_out_: from the defs on, through blocks where it is live.
  void go_on(std::span<const Mention> mentions) {
    work_.clear();
    const auto leaves = [&](BlockId b) {
      if (defined_out_[b.index()] == mark_) return;
      defined_out_[b.index()] = mark_;
      work_.push_back(b);
    };
    for (const Mention& m : mentions)
      if (m.is(kWrites)) leaves(m.block);
    while (!work_.empty()) {
      const BlockId b = work_.back();
      work_.pop_back();
      for (const BlockId s : cfg_.successors(b)) {
        if (in_[s.index()] != mark_ || defined_in_[s.index()] == mark_) continue;
        defined_in_[s.index()] = mark_;
        leaves(s);
      }
    }
  }
  // Walks one block backwards. If no def reaches the block, nothing lives in it before its first def.
  void within(std::span<const Mention> mentions) {
    const std::size_t b = mentions[0].block.index();
    std::uint32_t defined = defined_in_[b] == mark_ ? begin_[b] : begin_[b + 1];
    for (const Mention& m : mentions)
      if (m.is(kWrites)) defined = std::min(defined, m.write_point());
    const auto add_defined = [&](std::uint32_t begin, std::uint32_t end) { add(std::max(begin, defined), end); };
    bool live = out_[b] == mark_;
    std::uint32_t end = begin_[b + 1];
    for (std::size_t k = mentions.size(); k-- > 0;) {
      const Mention& m = mentions[k];
      if (m.is(kWrites)) {
        if (!live) add_defined(m.write_point(), m.read_point() + 2);  // also where other defs of the instruction are written
        else if (m.is(kKills)) add_defined(m.write_point(), end);
        if (m.is(kKills)) live = false;
      }
      if (m.is(kReads)) {
        if (!live) end = m.read_point() + 1;
        live = true;
        // An early-clobber def must not write what is read beside it, even if that is undefined.
        if (m.is(kPinned) && m.read_point() < defined) add(m.read_point(), m.read_point() + 1);
      }
    }
    if (live) add_defined(begin_[b], end);
  }

  // --- values
  [[nodiscard]] std::uint32_t value_of(std::uint32_t v) {
    std::uint32_t top = v;
    while (value_[top] != top) top = value_[top];
    while (value_[v] != top) v = std::exchange(value_[v], top);
    return top;
  }
  void find_values() {
    each_plain_copy([&](VRegId def, VRegId use) {
      if (def != use && is_strict_[def.index()] != 0 && is_strict_[use.index()] != 0) value_[def.index()] = value_of(use.value);
    });
    // One phi may show that another has only one value, so all phis are looked at in a few rounds.
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      bool changed = false;
      for (const Phi& phi : phis_.phis()) changed = phi_of_one_value(phi) || changed;
      if (!changed) break;
    }
  }
  bool phi_of_one_value(const Phi& phi) {
    const auto copies = phis_.copies().subspan(phi.first_copy, phi.num_copies);
    const std::uint32_t def = copies[0].outside.vreg().value;
    if (!phis_.is_free(VRegId(def)) || is_strict_[def] == 0 || value_of(def) != def) return false;
    std::uint32_t one = def;
    for (const PhiCopy& c : copies.subspan(1)) {
      const VRegId use = c.outside.vreg();
      if (!phis_.is_free(use) || is_strict_[use.index()] == 0) return false;
      const std::uint32_t value = value_of(use.value);
      if (value == def || value == one) continue;
      if (one != def) return false;
      one = value;
    }
    if (one == def) return false;
    value_[def] = one;
    return true;
  }

  void hubs(bool by_values, std::span<live::Segments> ranges) {
    std::uint32_t fresh = static_cast<std::uint32_t>(f_.vregs.size());
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      const Phi& phi = phis_.phis()[k];
      for (const PhiCopy& c : phis_.copies().subspan(phi.first_copy, phi.num_copies)) {
        if (c.on_edge) continue;
        const VRegId v = c.outside.vreg();
        const bool has_value = phis_.is_free(v) && (!c.at_head || (by_values && is_strict_[v.index()] != 0));
        const std::uint32_t value = has_value ? value_of(v.value) : fresh++;
        if (c.at_head) ranges[k].add(begin_[c.block.index()], 2 * head_place(c.block) + 1, value);
        else ranges[k].add(2 * end_place(c.block) + 1, begin_[c.block.index() + 1], value);
      }
    }
  }

  const Function& f_;
  const ir::Cfg& cfg_;
  const PhiCopies& phis_;
  std::vector<std::uint32_t>& begin_;
  std::vector<char> is_wanted_, is_strict_;  // by vreg
  std::vector<std::uint32_t> value_;         // by vreg: one step towards the vreg whose value it has
  Grouped<Mention> mentions_;
  struct Found {
    std::uint32_t vreg, begin, end;
  };
  std::vector<Found> found_;  // where the vregs of phis live, in any order, some of it twice; values are not known yet
  // By block, the mark of the vreg for which it is so.
  std::uint32_t mark_ = 0;
  std::vector<std::uint32_t> in_, out_, kills_, defined_in_, defined_out_;
  std::vector<BlockId> live_, has_mention_, work_;
};

}  // namespace

LiveRanges::LiveRanges(const Function& f, const ir::Cfg& cfg, const PhiCopies& phis, bool by_values) {
  Builder(f, cfg, phis, begin_).run(by_values, ranges_);
}

}  // namespace regduel::passes::conventional
