// See liveness.h.

#include "allocator/program/liveness.h"

#include <algorithm>
#include <bit>

#include "base/grouped.h"
#include "base/planted.h"

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

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

}  // namespace

class LivenessBuilder {
 public:
  LivenessBuilder(Liveness& out, const Function& f, const ir::Cfg& cfg, std::size_t num_global)
      : out_(out), f_(f), cfg_(cfg), num_global_(num_global) {}

  void run() {
    number();
    find_columns();
    note_blocks();
    for (std::uint32_t c = 0; c < columns_.size(); ++c) follow(c);
    const auto by_block = [&](Grouped<std::uint32_t>& lists, const std::vector<BlockColumn>& found) {
      lists.build_from(
          f_.blocks.size(), found, [](const BlockColumn& f) { return f.block.index(); },
          [](const BlockColumn& f) { return f.column; });
    };
    by_block(reach_in_, found_reach_in_);
    by_block(live_out_, found_live_out_);
    note_reads();
    live_.assign(f_.vregs.size(), 0);
    end_.assign(f_.vregs.size(), 0);
    first_def_.assign(f_.vregs.size(), 0);
    // From the last block to the first, so that the pieces of a range come nearly in order.
    const auto order = cfg_.reverse_postorder();
    for (std::size_t k = order.size(); k-- > 0;) scan_block(order[k]);
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
  // An operand that is a vreg.
  struct Register {
    std::uint32_t operand;  // index into f.operands
    std::uint32_t vreg;
    ByteMask bytes;
    bool reads, writes, is_early_clobber;
  };
  // Of the instruction with this number.
  [[nodiscard]] std::span<const Register> registers(std::uint32_t number) const {
    return {registers_.data() + register_begin_[number], registers_.data() + register_begin_[number + 1]};
  }
  [[nodiscard]] std::uint32_t first_number(const ir::Block& block) const { return out_.number_of_[block.first_inst]; }

  void number() {
    out_.number_of_.assign(f_.insts.size(), Liveness::kUnnumbered);
    out_.inst_at_.reserve(f_.insts.size());
    out_.block_at_.reserve(f_.insts.size());
    out_.read_.assign(f_.operands.size(), 0);
    out_.after_.assign(f_.operands.size(), 0);
    out_.before_.assign(f_.operands.size(), 0);
    registers_.reserve(f_.operands.size());
    register_begin_.reserve(f_.insts.size() + 1);
    guarded_.reserve(f_.insts.size());
    for (const BlockId b : cfg_.reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        out_.number_of_[block.first_inst + k] = static_cast<std::uint32_t>(out_.inst_at_.size());
        out_.inst_at_.push_back(block.first_inst + k);
        out_.block_at_.push_back(b);
        list_registers(f_.insts[block.first_inst + k]);
      }
    }
    register_begin_.push_back(static_cast<std::uint32_t>(registers_.size()));
  }
  void list_registers(const Inst& inst) {
    bool is_guarded = false;
    register_begin_.push_back(static_cast<std::uint32_t>(registers_.size()));
    for (std::uint32_t at = inst.first_operand; at < inst.first_operand + inst.num_operands; ++at) {
      const Operand& op = f_.operands[at];
      is_guarded = is_guarded || op.role == Role::Guard;
      if (!op.is_vreg()) continue;
      const ByteMask bytes = op.part.is_whole() ? byte_mask(0, f_.vregs[op.value].bytes()) : bytes_of(f_, op);
      registers_.push_back({at, op.value, bytes, op.reads(), op.writes(), op.is_early_clobber()});
    }
    if (REGDUEL_PLANTED("fatpoint-guarded-def-kills")) is_guarded = false;
    guarded_.push_back(is_guarded ? 1 : 0);
  }

  // Atoms, and columns for those of the vregs that are read in some block before they are wholly written there.
  void find_columns() {
    // By vreg: the bytes at which an atom begins; what was wholly written so far in the block `stamp`.
    std::vector<ByteMask> cuts(f_.vregs.size(), 1), killed(f_.vregs.size(), 0);
    std::vector<std::uint32_t> stamp(f_.vregs.size(), kNone);
    std::vector<char> is_global(f_.vregs.size(), 0);
    for (std::uint32_t n = 0; n < out_.num_numbered(); ++n) {
      const std::uint32_t b = out_.block_at_[n].value;
      for (const Register& r : registers(n)) {
        cuts[r.vreg] |= r.bytes ^ (r.bytes << 1);
        if (r.reads && r.vreg < num_global_ && (r.bytes & ~(stamp[r.vreg] == b ? killed[r.vreg] : 0)) != 0) is_global[r.vreg] = 1;
      }
      if (guarded_[n] != 0) continue;
      for (const Register& r : registers(n)) {
        if (!r.writes) continue;
        if (stamp[r.vreg] != b) killed[r.vreg] = 0;
        stamp[r.vreg] = b;
        killed[r.vreg] |= r.bytes;
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
  // An architectural register holds something at entry.
  [[nodiscard]] bool is_defined_at_entry(std::uint32_t v) const {
    return (f_.vregs[v].flags & ir::kVRegArchitectural) != 0 && f_.vregs[v].fixed.is_valid();
  }

  // By column: the blocks that read it before they kill it, that kill it, that define it, whether they kill it or not.
  void note_blocks() {
    std::vector<std::pair<std::uint32_t, Note>> notes;
    std::vector<std::uint32_t> last(columns_.size(), kNone);  // by column: its last note
    for (const BlockId b : cfg_.reverse_postorder()) {
      const auto note = [&](std::uint32_t c) -> Note& {
        if (last[c] == kNone || notes[last[c]].second.block != b) {
          last[c] = static_cast<std::uint32_t>(notes.size());
          notes.push_back({c, {b}});
        }
        return notes[last[c]].second;
      };
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        const std::uint32_t number = first_number(block) + k;
        for (const Register& r : registers(number))
          if (r.reads)
            for_each_column(r.vreg, r.bytes, [&](std::uint32_t c) {
              Note& n = note(c);
              n.reads = n.reads || !n.kills;
            });
        for (const Register& r : registers(number))
          if (r.writes)
            for_each_column(r.vreg, r.bytes, [&](std::uint32_t c) {
              Note& n = note(c);
              n.defines = true;
              n.kills = n.kills || guarded_[number] == 0;
            });
      }
    }
    notes_.build_from(columns_.size(), notes, [](const auto& n) { return n.first; }, [](const auto& n) { return n.second; });
    state_.assign(f_.blocks.size(), {});
    named_.assign(f_.blocks.size(), kNone);
    place_.assign(f_.blocks.size(), 0);
    through_.assign(f_.blocks.size() / 64 + 1, 0);
    for (std::uint32_t k = 0; k < cfg_.reverse_postorder().size(); ++k) place_[cfg_.reverse_postorder()[k].index()] = k;
  }

  // Blocks in which a vreg is an operand. Its columns are followed one after the other.
  void note_names(std::uint32_t v) {
    const std::uint32_t c = first_column_[v];
    for (std::uint32_t k = notes_.begin(c); k < notes_.begin(c + num_columns_[v]); ++k) named_[notes_.items()[k].block.index()] = v;
  }

  // One column through the blocks. First backwards from its reads to where it is killed; then forwards from its defs, but only
  // where it was found to be read: a def that reaches such a place at all reaches it along such places, from the last def on the
  // way. Blocks that do not name the vreg become pieces of its range once its last column is done, a run of them one piece.
  void follow(std::uint32_t c) {
    const std::uint32_t v = columns_[c].vreg;
    if (c == first_column_[v]) note_names(v);
    const auto at = [&](BlockId b) -> State& {
      State& s = state_[b.index()];
      if (s.column != c) s = {.column = c};
      return s;
    };
    const std::span<const Note> notes = notes_[c];
    work_.clear();
    for (const Note& n : notes) {
      State& s = at(n.block);
      s.kills = n.kills;
      s.read_in = n.reads;
      if (n.reads) work_.push_back(n.block);
    }
    while (!work_.empty()) {
      const BlockId b = work_.back();
      work_.pop_back();
      for (const BlockId p : cfg_.predecessors(b)) {
        if (!cfg_.is_reachable(p)) continue;
        if (REGDUEL_PLANTED("fatpoint-liveness-forgets-back-edges") && cfg_.rpo_index(p) >= cfg_.rpo_index(b)) continue;
        State& s = at(p);
        s.read_out = true;
        if (s.kills || s.read_in) continue;
        s.read_in = true;
        work_.push_back(p);
      }
    }
    const auto leave = [&](BlockId b) {
      State& s = at(b);
      if (!s.read_out || s.reach_out) return;
      s.reach_out = true;
      if (named_[b.index()] == v) found_live_out_.push_back({b, c});
      work_.push_back(b);
    };
    const auto enter = [&](BlockId b) {
      State& s = at(b);
      if (!s.read_in || s.reach_in) return;
      s.reach_in = true;
      if (named_[b.index()] == v) found_reach_in_.push_back({b, c});
      else pass_through(place_[b.index()]);
      leave(b);
    };
    if (is_defined_at_entry(columns_[c].vreg)) enter(BlockId(0));
    for (const Note& n : notes)
      if (n.defines) leave(n.block);
    while (!work_.empty()) {
      const BlockId b = work_.back();
      work_.pop_back();
      for (const BlockId s : cfg_.successors(b)) enter(s);
    }
    if (c + 1 == first_column_[v] + num_columns_[v]) close_runs(v);
  }
  void pass_through(std::uint32_t place) {
    through_[place / 64] |= std::uint64_t{1} << (place % 64);
    through_begin_ = std::min(through_begin_, place / 64);
    through_end_ = std::max(through_end_, place / 64 + 1);
  }
  void close_runs(std::uint32_t v) {
    const auto order = cfg_.reverse_postorder();
    const auto first_point = [&](std::size_t place) {
      return place < order.size() ? read_point(out_.number_of_[f_.block(order[place]).first_inst])
                                  : read_point(out_.num_numbered());
    };
    std::size_t begin = 0, end = 0;
    const auto close = [&] {
      if (begin < end) through_pieces_.push_back({v, {first_point(begin), first_point(end)}});
    };
    for (std::size_t w = through_begin_; w < through_end_; ++w) {
      for (std::uint64_t rest = through_[w]; rest != 0;) {
        const auto low = static_cast<std::size_t>(std::countr_zero(rest));
        const auto length = static_cast<std::size_t>(std::countr_one(rest >> low));
        if (w * 64 + low != end) {
          close();
          begin = w * 64 + low;
        }
        end = w * 64 + low + length;
        rest = low + length < 64 ? rest >> (low + length) << (low + length) : 0;
      }
      through_[w] = 0;
    }
    close();
    through_begin_ = kNone;
    through_end_ = 0;
  }

  // What each use reads that is defined at all, and what reaches each def.
  void note_reads() {
    std::vector<ByteMask> defined(f_.vregs.size(), 0);
    std::vector<std::uint32_t> stamp(f_.vregs.size(), kNone);
    for (const BlockId b : cfg_.reverse_postorder()) {
      const auto touch = [&](std::uint32_t v) {
        if (stamp[v] == b.value) return;
        stamp[v] = b.value;
        defined[v] = b.value == 0 && is_defined_at_entry(v) ? ~ByteMask{0} : 0;
      };
      for (const std::uint32_t c : reach_in_[b.index()]) {
        touch(columns_[c].vreg);
        defined[columns_[c].vreg] |= columns_[c].bytes;
      }
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        for (const Register& r : registers(first_number(block) + k)) {
          touch(r.vreg);
          if (r.writes) out_.before_[r.operand] = defined[r.vreg];
          if (r.reads) out_.read_[r.operand] = r.bytes & defined[r.vreg];
        }
        for (const Register& r : registers(first_number(block) + k))
          if (r.writes) defined[r.vreg] |= r.bytes;
      }
    }
  }

  void push(std::uint32_t v, Point begin, Point end) { pieces_.push_back({v, {begin, end}}); }

  // Backwards over one block, closing an interval where its value is born.
  void scan_block(BlockId b) {
    const ir::Block& block = f_.block(b);
    const std::uint32_t first = first_number(block);
    const Point bottom = 4 * (first + block.num_insts);
    opened_.clear();
    for (const std::uint32_t column : live_out_[b.index()]) {
      const Column& c = columns_[column];
      if (live_[c.vreg] == 0) open(c.vreg, bottom);
      live_[c.vreg] |= c.bytes;
    }
    for (std::uint32_t k = block.num_insts; k-- > 0;) {
      const std::uint32_t i = first + k;
      const bool guarded = guarded_[i] != 0;
      for (const Register& r : registers(i)) {
        if (!r.writes) continue;
        const std::uint32_t v = r.vreg;
        out_.after_[r.operand] = live_[v];
        const bool part = r.bytes != byte_mask(0, f_.vregs[v].bytes());
        if (REGDUEL_PLANTED("fatpoint-dead-def-has-no-range") && live_[v] == 0) continue;
        if (live_[v] == 0 || part) push(v, part ? read_point(i) : write_point(i), write_point(i) + 1);
        bool is_held_at_reads = guarded || r.is_early_clobber;
        if (REGDUEL_PLANTED("fatpoint-early-clobber-ignored")) is_held_at_reads = guarded;
        if (is_held_at_reads) push(v, read_point(i), read_point(i) + 1);
        if (guarded && !part && live_[v] != 0) {
          // The new value is whole, so nothing need outlast the clobbers: the range has a hole at C.
          push(v, write_point(i), end_[v]);
          end_[v] = read_point(i) + 1;
        }
        first_def_[v] = guarded || part || r.is_early_clobber ? read_point(i) : write_point(i);
      }
      if (!guarded)
        for (const Register& r : registers(i)) {
          const std::uint32_t v = r.vreg;
          if (!r.writes || live_[v] == 0) continue;
          live_[v] &= ~r.bytes;
          if (REGDUEL_PLANTED("fatpoint-part-def-kills-all")) live_[v] = 0;
          if (live_[v] == 0) push(v, write_point(i), end_[v]);
        }
      for (const Register& r : registers(i)) {
        if (!r.reads) continue;
        const std::uint32_t v = r.vreg;
        if (const ByteMask read = out_.read_[r.operand]; read == 0) {
          push(v, read_point(i), read_point(i) + 1);
        } else {
          if (live_[v] == 0) open(v, read_point(i) + 1);
          live_[v] |= read;
        }
      }
    }
    for (const std::uint32_t column : reach_in_[b.index()]) {
      const Column& c = columns_[column];
      if ((live_[c.vreg] & c.bytes) != 0) first_def_[c.vreg] = 4 * first;
    }
    for (const std::uint32_t v : opened_) {
      if (live_[v] == 0) continue;
      const Point begin = b.value == 0 && is_defined_at_entry(v) ? 4 * first : first_def_[v];
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
    Grouped<Interval> pieces(f_.vregs.size(), [&](auto add) {
      for (std::size_t k = pieces_.size(); k-- > 0;) add(pieces_[k].vreg, pieces_[k].interval);
    });
    out_.range_begin_.reserve(f_.vregs.size() + 1);
    out_.intervals_.reserve(pieces_.size() + through_pieces_.size());
    auto through = through_pieces_.begin();
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      const std::size_t start = out_.intervals_.size();
      out_.range_begin_.push_back(static_cast<std::uint32_t>(start));
      const auto is_before = [](const Interval& a, const Interval& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
      };
      const std::span<Interval> sorted = pieces[v];
      if (!std::is_sorted(sorted.begin(), sorted.end(), is_before)) std::sort(sorted.begin(), sorted.end(), is_before);
      const auto add = [&](const Interval& i) {
        if (out_.intervals_.size() > start && i.touches(out_.intervals_.back()))
          out_.intervals_.back() = out_.intervals_.back().unite(i);
        else out_.intervals_.push_back(i);
      };
      for (const Interval& i : sorted) {
        for (; through != through_pieces_.end() && through->vreg == v && through->interval.begin < i.begin; ++through)
          add(through->interval);
        add(i);
      }
      for (; through != through_pieces_.end() && through->vreg == v; ++through) add(through->interval);
    }
    out_.range_begin_.push_back(static_cast<std::uint32_t>(out_.intervals_.size()));
  }

  Liveness& out_;
  const Function& f_;
  const ir::Cfg& cfg_;
  std::size_t num_global_;
  std::vector<Register> registers_;            // by number of the instruction
  std::vector<std::uint32_t> register_begin_;  // by number: where its registers begin; one more at the end
  std::vector<char> guarded_;                  // by number
  std::vector<Column> columns_;
  std::vector<std::uint32_t> first_column_, num_columns_;
  // What a block does to a column that it names, and what one column is in a block.
  struct Note {
    BlockId block;
    bool reads = false, kills = false, defines = false;
  };
  struct State {
    std::uint32_t column = kNone;  // whose state this is
    bool kills = false, read_in = false, read_out = false, reach_in = false, reach_out = false;
  };
  Grouped<Note> notes_;       // by column
  std::vector<State> state_;  // by block
  std::vector<BlockId> work_;
  std::vector<std::uint32_t> named_;    // by block: the last vreg found to be named there
  std::vector<std::uint32_t> place_;    // by block: its place in reverse postorder
  std::vector<std::uint64_t> through_;  // by place, one bit: the vreg at hand lives there from end to end, unnamed
  std::uint32_t through_begin_ = kNone, through_end_ = 0;  // words that may have bits
  struct BlockColumn {
    BlockId block;
    std::uint32_t column;
  };
  std::vector<BlockColumn> found_reach_in_, found_live_out_;  // in blocks that name the vreg; reach_in_: if read there or later
  Grouped<std::uint32_t> reach_in_, live_out_;                // the same by block: columns, ascending
  std::vector<ByteMask> live_;
  std::vector<Point> end_, first_def_;
  std::vector<std::uint32_t> opened_;
  std::vector<Piece> pieces_;          // by falling block
  std::vector<Piece> through_pieces_;  // by vreg, ascending: in blocks that do not name it
};

Liveness::Liveness(const Function& f, const ir::Cfg& cfg, std::size_t num_global) {
  LivenessBuilder(*this, f, cfg, num_global).run();
}

}  // namespace regduel::allocator
