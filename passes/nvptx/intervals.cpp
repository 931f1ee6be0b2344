#include "passes/nvptx/intervals.h"

#include <algorithm>
#include <utility>

#include "passes/liveness.h"
#include "passes/nvptx/constrained_copies.h"
#include "passes/nvptx/type_classes.h"

namespace regduel::passes::nvptx {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Storage;
using ir::VRegId;

// Walks each block backwards.
class IntervalBuilder {
 public:
  IntervalBuilder(const Function& f, const ir::Cfg& cfg, const Origins& origins, std::span<const char> takes_part, Intervals& out)
      : f_(f), origins_(origins), takes_part_(takes_part), liveness_(f, cfg), slots_(f), out_(out) {}

  void run() {
    std::uint32_t next = 0;
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      out_.first_.push_back(next);
      if (takes_part_[v] != 0) next += static_cast<std::uint32_t>(num_pieces(f_.vregs[v]));
    }
    out_.first_.push_back(next);
    live_.resize(next);
    out_.intervals_.resize(next);
    written_in_.assign(f_.vregs.size(), 0);
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) block(BlockId(b));
    // The trees are built last, because a node must not move once it is in a tree.
    for (std::size_t n = 0; n < made_.size(); ++n) out_.nodes_.push_back(made_[n].second);
    for (std::size_t n = 0; n < made_.size(); ++n) out_.intervals_[made_[n].first].definitions.insert(out_.nodes_[n]);
    out_.live_through_.build_from(
        f_.blocks.size(), through_, [](const auto& x) { return x.first.index(); }, [](const auto& x) { return x.second; });
  }

 private:
  // A piece that is live below the point that the walk has reached.
  struct Live {
    Point until = 0;        // 0 = it is not live
    Point first_write = 0;  // the highest definition met that needs what was there; 0 = none
  };

  void block(BlockId b) {
    const auto insts = f_.insts_of(b);
    touched_.clear();
    for (const VRegId root : liveness_.live_out(b))
      for (std::uint32_t n = out_.first_[root.index()]; n < out_.first_[root.index() + 1]; ++n) set_live(n, slots_.end(b));
    std::size_t k = insts.size();
    for (; k > 0 && !insts[k - 1].is_phi(); --k) instruction(b, insts[k - 1]);
    for (std::size_t p = 0; p < k; ++p) phi(b, insts[p]);
    for (const std::uint32_t n : touched_) {
      Live& l = live_[n];
      if (l.until != 0) add_segment(n, l.first_write != 0 ? l.first_write : slots_.begin(b), l.until);
      l = {};
    }
    for (const VRegId root : liveness_.live_in(b)) {
      if (out_.first_[root.index()] == out_.first_[root.index() + 1]) continue;
      if (liveness_.is_live_out(b, root) && written_in_[root.index()] != b.value + 1) through_.emplace_back(b, root);
    }
  }
  void set_live(std::uint32_t n, Point until) {
    touched_.push_back(n);
    live_[n].until = until;
  }
  void add_segment(std::uint32_t n, Point begin, Point end) { out_.intervals_[n].segments.add(begin, end); }

  // visit(node, whether the storage covers all of it) for each piece that the storage overlaps.
  template <class Visit>
  void each_piece(const Storage& s, Visit&& visit) const {
    const std::uint32_t first = out_.first_[s.root.index()], end = out_.first_[s.root.index() + 1];
    const int bytes = f_.vreg(s.root).bytes();
    for (std::uint32_t n = first; n < end; ++n) {
      const int begin = end - first == 1 ? 0 : static_cast<int>(n - first) * kPieceBytes;
      const int stop = end - first == 1 ? bytes : std::min(begin + kPieceBytes, bytes);
      if (s.offset < stop && begin < s.offset + s.size) visit(n, s.offset <= begin && stop <= s.offset + s.size);
    }
  }
  void define(std::uint32_t n, const Definition& d) { made_.emplace_back(n, d); }
  void write(std::uint32_t n, const Definition& d, bool kills, Point end, bool is_live_in) {
    Live& l = live_[n];
    define(n, d);
    if (l.until == 0) {
      add_segment(n, d.at, end);
    } else if (kills) {
      add_segment(n, d.at, l.until);
      l = {};
    } else if (!is_live_in) {
      l.first_write = d.at;
    }
  }
  void read(std::uint32_t n, Point end) {
    if (live_[n].until == 0) set_live(n, end);
  }

  [[nodiscard]] Definition definition(const Inst& i, std::uint32_t inst, std::size_t operand, Point at) const {
    Definition d;
    d.at = at;
    d.inst = inst;
    d.operand = static_cast<std::uint16_t>(operand);
    const auto ops = f_.operands_of(i);
    // Where the copy stays, an early-clobber def cannot be in the register of what is read.
    if (!i.is_copy() || (ops[operand].is_early_clobber() && stays(f_, i))) return d;
    if (const Storage& origin = origins_.of(inst, operand); origin.root.is_valid()) {
      d.makes = Makes::Copy;
      d.other = origin.root;
    }
    return d;
  }
  void instruction(BlockId b, const Inst& i) {
    const auto inst = static_cast<std::uint32_t>(&i - f_.insts.data());
    const Point reads = slots_.reads(b, inst), writes = reads + 1;
    const auto ops = f_.operands_of(i);
    const bool is_guarded = ir::is_guarded(ops);
    bool clobbers_early = false;
    for (std::size_t k = 0; k < ops.size() && ops[k].writes(); ++k) {
      const Storage s = f_.storage(ops[k]);
      written_in_[s.root.index()] = b.value + 1;
      clobbers_early = clobbers_early || ops[k].is_early_clobber();
      const Definition d = definition(i, inst, k, ops[k].is_early_clobber() ? reads : writes);
      each_piece(s, [&](std::uint32_t n, bool is_covered) {
        write(n, d, is_covered && !is_guarded, writes + 1, liveness_.is_live_in(b, s.root));
      });
    }
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (ops[k].is_tied()) tie(i, inst, k, writes);
    const auto read_all = [&](const Storage& s) { each_piece(s, [&](std::uint32_t n, bool) { read(n, writes); }); };
    for (const Operand& op : ops) {
      if (!op.is_vreg() || !op.reads()) continue;
      read_all(f_.storage(op));
      if (clobbers_early) each_piece(f_.storage(op), [&](std::uint32_t n, bool) { add_segment(n, reads, writes); });
    }
    if (i.is_copy())
      for (std::size_t k = 0; k < ir::copy_pairs(ops).size(); ++k)
        if (origins_.is_through(inst, k)) read_all(origins_.of(inst, k));
  }
  void tie(const Inst& i, std::uint32_t inst, std::size_t def, Point writes) {
    const auto ops = f_.operands_of(i);
    const Storage use = f_.storage(ops[ops[def].tied]);
    const VRegId other = f_.root(ops[def].vreg());
    if (use.root == other) return;
    each_piece(use, [&](std::uint32_t n, bool) {
      if (live_[n].until != 0) return;  // the use lives on, so a copy is needed anyway
      Definition d;
      d.at = writes;
      d.inst = inst;
      d.operand = static_cast<std::uint16_t>(def);
      d.makes = Makes::Tie;
      d.other = other;
      define(n, d);
      set_live(n, writes + 1);
    });
  }
  void phi(BlockId b, const Inst& i) {
    const auto inst = static_cast<std::uint32_t>(&i - f_.insts.data());
    const Storage s = f_.storage(f_.operands_of(i)[0]);
    written_in_[s.root.index()] = b.value + 1;
    Definition d;
    d.at = slots_.phi_writes(b);
    d.inst = inst;
    d.makes = Makes::Phi;
    each_piece(s, [&](std::uint32_t n, bool) { write(n, d, true, d.at + 1, false); });
  }

  const Function& f_;
  const Origins& origins_;
  std::span<const char> takes_part_;
  const Liveness liveness_;
  const Slots slots_;
  Intervals& out_;
  std::vector<Live> live_;  // by piece
  std::vector<std::uint32_t> touched_;
  std::vector<std::pair<std::uint32_t, Definition>> made_;  // and of which piece
  std::vector<std::uint32_t> written_in_;                   // by root: 1 + the last block visited in which it is written
  std::vector<std::pair<BlockId, VRegId>> through_;
};

Intervals::Intervals(const Function& f, const ir::Cfg& cfg, const Origins& origins, std::span<const char> takes_part) {
  IntervalBuilder(f, cfg, origins, takes_part, *this).run();
}

}  // namespace regduel::passes::nvptx
