// See liveness.h.

#include "allocator/liveness.h"

#include <algorithm>
#include <bit>

namespace regduel::allocator {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Role;
using ir::Storage;

ByteMask bytes_of(const Function& f, const Operand& op) {
  const Storage s = f.storage(op);
  return byte_mask(s.offset, s.size);
}

bool overlap(std::span<const Interval> a, std::span<const Interval> b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].begin < b[j].end && b[j].begin < a[i].end) return true;
    if (a[i].end <= b[j].end) ++i;
    else ++j;
  }
  return false;
}

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// One row of bits a block.
class BitTable {
 public:
  BitTable(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_, 0) {}
  [[nodiscard]] std::span<std::uint64_t> row(BlockId b) { return {bits_.data() + b.index() * words_, words_}; }
  void set(BlockId b, std::size_t column) { row(b)[column / 64] |= std::uint64_t{1} << (column % 64); }
  [[nodiscard]] bool get(BlockId b, std::size_t column) { return (row(b)[column / 64] >> (column % 64) & 1) != 0; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

class LivenessBuilder {
 public:
  LivenessBuilder(Liveness& out, const Function& f, const ir::Cfg& cfg, std::size_t num_global)
      : out_(out), f_(f), cfg_(cfg), num_global_(num_global) {}

  void run() {
    number();
    find_columns();
    const std::size_t n = f_.blocks.size();
    BitTable reach_in(n, columns_.size()), reach_out(n, columns_.size());
    forward(reach_in, reach_out);
    BitTable gen(n, columns_.size()), kill(n, columns_.size()), live_in(n, columns_.size()), live_out(n, columns_.size());
    note_reads(reach_in, gen, kill);
    backward(reach_in, reach_out, gen, kill, live_in, live_out);
    live_.assign(f_.vregs.size(), 0);
    end_.assign(f_.vregs.size(), 0);
    first_def_.assign(f_.vregs.size(), 0);
    for (const BlockId b : cfg_.reverse_postorder()) scan_block(b, reach_in, live_out);
    collect();
  }

 private:
  struct Column {
    std::uint32_t vreg;
    ByteMask bytes;
  };
  struct Piece {
    std::uint32_t vreg;
    Interval interval;
  };
  template <class Visit>
  void for_each_register(const Inst& inst, Visit visit) {
    for (std::size_t k = 0; k < inst.num_operands; ++k) {
      const std::size_t at = inst.first_operand + k;
      const Operand& op = f_.operands[at];
      if (op.is_vreg()) visit(at, op, op.value, mask_[at]);
    }
  }

  void number() {
    out_.number_of_.assign(f_.insts.size(), Liveness::kUnnumbered);
    out_.read_.assign(f_.operands.size(), 0);
    out_.after_.assign(f_.operands.size(), 0);
    out_.before_.assign(f_.operands.size(), 0);
    for (const BlockId b : cfg_.reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        out_.number_of_[block.first_inst + k] = static_cast<std::uint32_t>(out_.inst_at_.size());
        out_.inst_at_.push_back(block.first_inst + k);
        out_.block_at_.push_back(b);
      }
    }
  }

  static bool is_guarded(const Function& f, const Inst& inst) {
    const auto ops = f.operands_of(inst);
    return std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
  }

  // Atoms, and columns for those of the vregs that are read in some block before they are wholly written there.
  void find_columns() {
    mask_.assign(f_.operands.size(), 0);
    guarded_.assign(f_.insts.size(), 0);
    std::vector<ByteMask> cuts(f_.vregs.size(), 1);
    for (std::size_t k = 0; k < f_.operands.size(); ++k) {
      const Operand& op = f_.operands[k];
      if (!op.is_vreg()) continue;
      const Storage s = f_.storage(op);
      mask_[k] = byte_mask(s.offset, s.size);
      cuts[op.value] |= ByteMask{1} << s.offset;
      if (s.offset + s.size < 32) cuts[op.value] |= ByteMask{1} << (s.offset + s.size);
    }
    std::vector<ByteMask> killed(f_.vregs.size(), 0);
    std::vector<std::uint32_t> stamp(f_.vregs.size(), kNone);
    std::vector<char> is_global(f_.vregs.size(), 0);
    for (const BlockId b : cfg_.reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        const Inst& inst = f_.insts[block.first_inst + k];
        guarded_[block.first_inst + k] = is_guarded(f_, inst) ? 1 : 0;
        for_each_register(inst, [&](std::size_t, const Operand& op, std::uint32_t v, ByteMask m) {
          if (op.reads() && v < num_global_ && (m & ~(stamp[v] == b.value ? killed[v] : 0)) != 0) is_global[v] = 1;
        });
        if (guarded_[block.first_inst + k] != 0) continue;
        for_each_register(inst, [&](std::size_t, const Operand& op, std::uint32_t v, ByteMask m) {
          if (!op.writes()) return;
          if (stamp[v] != b.value) killed[v] = 0;
          stamp[v] = b.value;
          killed[v] |= m;
        });
      }
    }
    first_column_.assign(f_.vregs.size(), kNone);
    num_columns_.assign(f_.vregs.size(), 0);
    for (std::uint32_t v = 0; v < f_.vregs.size(); ++v) {
      if (is_global[v] == 0) continue;
      first_column_[v] = static_cast<std::uint32_t>(columns_.size());
      const int size = f_.vregs[v].bytes();
      for (int begin = 0; begin < size;) {
        int end = begin + 1;
        while (end < size && (cuts[v] >> end & 1) == 0) ++end;
        columns_.push_back({v, byte_mask(begin, end - begin)});
        ++num_columns_[v];
        begin = end;
      }
    }
  }

  template <class Visit>
  void for_each_column(std::uint32_t v, ByteMask m, Visit visit) {
    if (first_column_[v] == kNone) return;
    for (std::uint32_t c = first_column_[v]; c < first_column_[v] + num_columns_[v]; ++c)
      if ((columns_[c].bytes & m) != 0) visit(c);
  }
  [[nodiscard]] ByteMask mask_in(BitTable& table, BlockId b, std::uint32_t v) {
    ByteMask m = 0;
    for_each_column(v, ~ByteMask{0}, [&](std::uint32_t c) { m |= table.get(b, c) ? columns_[c].bytes : 0; });
    return m;
  }
  // An architectural register holds something at entry.
  [[nodiscard]] bool is_defined_at_entry(std::uint32_t v) const {
    return (f_.vregs[v].flags & ir::kVRegArchitectural) != 0 && f_.vregs[v].fixed.is_valid();
  }

  void forward(BitTable& in, BitTable& out) {
    if (columns_.empty()) return;
    BitTable defs(f_.blocks.size(), columns_.size());
    for (const BlockId b : cfg_.reverse_postorder())
      for (const Inst& inst : f_.insts_of(b))
        for_each_register(inst, [&](std::size_t, const Operand& op, std::uint32_t v, ByteMask m) {
          if (op.writes()) for_each_column(v, m, [&](std::uint32_t c) { defs.set(b, c); });
        });
    for (std::uint32_t c = 0; c < columns_.size(); ++c)
      if (is_defined_at_entry(columns_[c].vreg)) in.set(BlockId(0), c);
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : cfg_.reverse_postorder()) {
        const auto row_in = in.row(b), row_out = out.row(b), row_defs = defs.row(b);
        for (const BlockId p : cfg_.predecessors(b)) {
          if (!cfg_.is_reachable(p)) continue;
          const auto row_p = out.row(p);
          for (std::size_t w = 0; w < row_in.size(); ++w) row_in[w] |= row_p[w];
        }
        for (std::size_t w = 0; w < row_in.size(); ++w) {
          const std::uint64_t now = row_in[w] | row_defs[w];
          changed = changed || now != row_out[w];
          row_out[w] = now;
        }
      }
    }
  }

  // What each use reads that is defined at all, and what reaches each def; from that, what blocks read and kill.
  void note_reads(BitTable& reach_in, BitTable& gen, BitTable& kill) {
    std::vector<ByteMask> defined(f_.vregs.size(), 0), killed(f_.vregs.size(), 0);
    std::vector<std::uint32_t> stamp(f_.vregs.size(), kNone);
    for (const BlockId b : cfg_.reverse_postorder()) {
      const auto touch = [&](std::uint32_t v) {
        if (stamp[v] == b.value) return;
        stamp[v] = b.value;
        defined[v] = mask_in(reach_in, b, v) | (b.value == 0 && is_defined_at_entry(v) ? ~ByteMask{0} : 0);
        killed[v] = 0;
      };
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        const Inst& inst = f_.insts[block.first_inst + k];
        for_each_register(inst, [&](std::size_t at, const Operand& op, std::uint32_t v, ByteMask m) {
          touch(v);
          if (op.writes()) out_.before_[at] = defined[v];
          if (!op.reads()) return;
          out_.read_[at] = m & defined[v];
          for_each_column(v, m & defined[v] & ~killed[v], [&](std::uint32_t c) { gen.set(b, c); });
        });
        for_each_register(inst, [&](std::size_t, const Operand& op, std::uint32_t v, ByteMask m) {
          if (!op.writes()) return;
          defined[v] |= m;
          if (guarded_[block.first_inst + k] != 0) return;
          killed[v] |= m;
          for_each_column(v, m, [&](std::uint32_t c) { kill.set(b, c); });
        });
      }
    }
  }

  void backward(BitTable& reach_in, BitTable& reach_out, BitTable& gen, BitTable& kill, BitTable& in, BitTable& out) {
    const auto order = cfg_.reverse_postorder();
    for (bool changed = !columns_.empty(); changed;) {
      changed = false;
      for (std::size_t k = order.size(); k-- > 0;) {
        const BlockId b = order[k];
        const auto row_in = in.row(b), row_out = out.row(b), row_gen = gen.row(b), row_kill = kill.row(b);
        const auto row_reach_in = reach_in.row(b), row_reach_out = reach_out.row(b);
        for (const BlockId s : cfg_.successors(b)) {
          const auto row_s = in.row(s);
          for (std::size_t w = 0; w < row_out.size(); ++w) row_out[w] |= row_s[w];
        }
        for (std::size_t w = 0; w < row_in.size(); ++w) {
          row_out[w] &= row_reach_out[w];
          const std::uint64_t now = (row_gen[w] | (row_out[w] & ~row_kill[w])) & row_reach_in[w];
          changed = changed || now != row_in[w];
          row_in[w] = now;
        }
      }
    }
  }

  void push(std::uint32_t v, Point begin, Point end) { pieces_.push_back({v, {begin, end}}); }

  // Backwards over one block, closing an interval where its value is born.
  void scan_block(BlockId b, BitTable& reach_in, BitTable& live_out) {
    const ir::Block& block = f_.block(b);
    const std::uint32_t first = out_.number_of_[block.first_inst];
    const Point bottom = 4 * (first + block.num_insts);
    opened_.clear();
    const auto row = live_out.row(b);
    for (std::size_t w = 0; w < row.size(); ++w)
      for (std::uint64_t rest = row[w]; rest != 0; rest &= rest - 1) {
        const Column& c = columns_[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
        if (live_[c.vreg] == 0) open(c.vreg, bottom);
        live_[c.vreg] |= c.bytes;
      }
    for (std::uint32_t k = block.num_insts; k-- > 0;) {
      const std::size_t index = block.first_inst + k;
      const Inst& inst = f_.insts[index];
      const std::uint32_t i = first + k;
      const bool guarded = guarded_[index] != 0;
      for_each_register(inst, [&](std::size_t at, const Operand& op, std::uint32_t v, ByteMask m) {
        if (!op.writes()) return;
        out_.after_[at] = live_[v];
        const bool part = m != byte_mask(0, f_.vregs[v].bytes());
        if (live_[v] == 0 || part) push(v, part ? read_point(i) : write_point(i), write_point(i) + 1);
        if (guarded || op.is_early_clobber()) push(v, read_point(i), read_point(i) + 1);
        if (guarded && !part && live_[v] != 0) {
          // The new value is whole, so nothing need outlast the clobbers: the range has a hole at C.
          push(v, write_point(i), end_[v]);
          end_[v] = read_point(i) + 1;
        }
        first_def_[v] = guarded || part || op.is_early_clobber() ? read_point(i) : write_point(i);
      });
      if (!guarded)
        for_each_register(inst, [&](std::size_t, const Operand& op, std::uint32_t v, ByteMask m) {
          if (!op.writes() || live_[v] == 0) return;
          live_[v] &= ~m;
          if (live_[v] == 0) push(v, write_point(i), end_[v]);
        });
      for_each_register(inst, [&](std::size_t at, const Operand& op, std::uint32_t v, ByteMask) {
        if (!op.reads()) return;
        if (out_.read_[at] == 0) {
          push(v, read_point(i), read_point(i) + 1);
        } else {
          if (live_[v] == 0) open(v, read_point(i) + 1);
          live_[v] |= out_.read_[at];
        }
      });
    }
    for (const std::uint32_t v : opened_) {
      if (live_[v] == 0) continue;
      const bool reached = (live_[v] & mask_in(reach_in, b, v)) != 0 || (b.value == 0 && is_defined_at_entry(v));
      const Point begin = reached ? 4 * first : first_def_[v];
      if (begin < end_[v]) push(v, begin, end_[v]);
      live_[v] = 0;
    }
  }
  void open(std::uint32_t v, Point end) {
    end_[v] = end;
    opened_.push_back(v);
  }

  // Pieces to ranges: by vreg, sorted, touching ones merged.
  void collect() {
    std::vector<std::uint32_t> begin(f_.vregs.size() + 1, 0);
    for (const Piece& p : pieces_) ++begin[p.vreg + 1];
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) begin[v + 1] += begin[v];
    std::vector<Interval> sorted(pieces_.size());
    std::vector<std::uint32_t> at(begin.begin(), begin.end() - 1);
    for (const Piece& p : pieces_) sorted[at[p.vreg]++] = p.interval;
    out_.range_begin_.reserve(f_.vregs.size() + 1);
    out_.intervals_.reserve(sorted.size());
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      const std::size_t start = out_.intervals_.size();
      out_.range_begin_.push_back(static_cast<std::uint32_t>(start));
      std::sort(sorted.begin() + begin[v], sorted.begin() + begin[v + 1],
                [](const Interval& a, const Interval& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
      for (std::uint32_t k = begin[v]; k < begin[v + 1]; ++k) {
        if (out_.intervals_.size() > start && sorted[k].begin <= out_.intervals_.back().end)
          out_.intervals_.back().end = std::max(out_.intervals_.back().end, sorted[k].end);
        else
          out_.intervals_.push_back(sorted[k]);
      }
    }
    out_.range_begin_.push_back(static_cast<std::uint32_t>(out_.intervals_.size()));
  }

  Liveness& out_;
  const Function& f_;
  const ir::Cfg& cfg_;
  std::size_t num_global_;
  std::vector<ByteMask> mask_;      // by operand
  std::vector<char> guarded_;       // by instruction
  std::vector<Column> columns_;
  std::vector<std::uint32_t> first_column_, num_columns_;
  std::vector<ByteMask> live_;
  std::vector<Point> end_, first_def_;
  std::vector<std::uint32_t> opened_;
  std::vector<Piece> pieces_;
};

Liveness::Liveness(const Function& f, const ir::Cfg& cfg, std::size_t num_global) {
  LivenessBuilder(*this, f, cfg, num_global).run();
}

}  // namespace regduel::allocator
