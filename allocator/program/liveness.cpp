// See liveness.h.

#include "allocator/program/liveness.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

ByteMask bytes_of(const Function& f, const Operand& op) {
  const ir::VReg& v = f.vreg(op.vreg());
  if (op.part.is_whole() && !v.alias.is_valid()) return byte_mask(0, v.bytes());
  const Storage s = f.storage(op);
  return byte_mask(s.offset, s.size);
}

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// Places in [0, size) that wait for a visit. Cost of a pop: of the words between the places.
class PlaceQueue {
 public:
  void resize(std::size_t size) { words_.assign(size / 64 + 1, 0); }
  void insert(std::uint32_t place) {
    const std::uint32_t w = place / 64;
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    if ((words_[w] & bit) != 0) return;
    words_[w] |= bit;
    low_ = count_ == 0 ? w : std::min(low_, w);
    high_ = count_ == 0 ? w : std::max(high_, w);
    ++count_;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  std::uint32_t pop_highest() {
    while (words_[high_] == 0) --high_;
    return take(high_, static_cast<std::uint32_t>(63 - std::countl_zero(words_[high_])));
  }
  std::uint32_t pop_lowest() {
    while (words_[low_] == 0) ++low_;
    return take(low_, static_cast<std::uint32_t>(std::countr_zero(words_[low_])));
  }

 private:
  std::uint32_t take(std::uint32_t w, std::uint32_t bit) {
    words_[w] &= ~(std::uint64_t{1} << bit);
    --count_;
    return w * 64 + bit;
  }
  std::vector<std::uint64_t> words_;
  std::uint32_t low_ = 0, high_ = 0;  // the words that have places are among these
  std::size_t count_ = 0;
};

}  // namespace

// In three steps:
//
//   1  note_block    forwards over each block: its registers, and a note of what it does to each vreg that it names
//   2  follow        the atoms that some block reads before it writes them, 64 at a time, from block to block along the notes
//   3  scan_block    backwards over each block, from what lives at its end: pieces of ranges
class LivenessBuilder {
 public:
  LivenessBuilder(Liveness& out, const Function& f, const ir::Cfg& cfg, std::size_t num_global, bool with_bytes)
      : out_(out), f_(f), cfg_(cfg), order_(cfg.reverse_postorder()), num_global_(num_global), with_bytes_(with_bytes) {}

  // Before run(): only some vregs are followed, the ranges of the others are taken over.
  void take_over(const Liveness& before, std::span<const std::uint32_t> now_at, std::span<const char> is_changed) {
    before_ = &before;
    now_at_ = now_at;
    is_changed_ = is_changed;
  }

  void run() {
    begin();
    for (std::uint32_t place = 0; place < order_.size(); ++place) note_block(place);
    begins_.push_back({static_cast<std::uint32_t>(notes_.size()), num_registers_});
    list_atoms();
    pieces_.reserve(notes_.size());
    for (std::size_t first = 0; first < atoms_.size(); first += 64)
      follow(std::span(atoms_).subspan(first, std::min<std::size_t>(atoms_.size() - first, 64)));
    // From the last block to the first, so that the pieces of a range come nearly in order.
    for (std::size_t place = order_.size(); place-- > 0;) scan_block(static_cast<std::uint32_t>(place));
    collect();
  }

 private:
  // An operand that is a vreg.
  struct Register {
    std::uint32_t operand;  // index into f.operands
    std::uint32_t note;     // of its vreg in its block
    ByteMask bytes;
    ByteMask defined;      // bytes of its vreg that its block has written before
    std::uint32_t number;  // of its instruction
    bool reads, writes, is_early_clobber, is_part;
    bool is_guarded;  // of a def
  };
  // The effect of a block on a vreg that it names, and the bytes of the vreg that come in and go out.
  struct Note {
    std::uint32_t vreg = 0;
    std::uint32_t place = 0;    // of the block
    std::uint32_t earlier = 0;  // note of the same vreg, in a block before this one in reverse postorder
    ByteMask exposed = 0;       // read before they are killed
    ByteMask kills = 0, defines = 0;
    ByteMask reach_in = 0;  // that some def reaches at the block's head, if they are read there or later
    ByteMask live = 0;      // at the block's end; during the scan, behind the instruction at hand
    Point end, first_def;   // of the interval that the scan has open
  };
  // Facts of one vreg.
  struct Named {
    std::uint32_t last_note = kNone;
    ByteMask all = 0;
    ByteMask cuts = 0;       // the bytes at which an atom begins
    bool is_global = false;  // some block reads it before it writes it
    bool is_followed = true;
    std::uint32_t newest_piece = kNone;
  };
  struct Atom {
    std::uint32_t vreg;
    ByteMask bytes;
  };
  struct Piece {
    Interval interval;
    std::uint32_t older;  // piece of the same vreg, that came before
  };

  [[nodiscard]] const ir::Block& block_at_place(std::size_t place) const { return f_.block(order_[place]); }
  // The first point of the block at a place, and behind the last block.
  [[nodiscard]] Point first_point(std::size_t place) const {
    return read_point(place < order_.size() ? out_.number_of_[block_at_place(place).first_inst] : out_.num_numbered());
  }
  // An architectural register holds something at entry.
  [[nodiscard]] bool is_defined_at_entry(std::uint32_t v) const {
    return f_.vregs[v].is_architectural() && f_.vregs[v].fixed.is_valid();
  }

  // --- 1: notes

  void begin() {
    std::size_t num_insts = 0;
    for (const BlockId b : order_) num_insts += f_.block(b).num_insts;
    out_.number_of_.assign(f_.insts.size(), Liveness::kUnnumbered);
    out_.inst_at_.resize(num_insts);
    out_.block_at_.resize(num_insts);
    if (with_bytes_)
      for (auto* bytes : {&out_.read_, &out_.after_, &out_.before_}) bytes->assign(f_.operands.size(), 0);
    if (with_bytes_) out_.is_outdated_.assign(f_.vregs.size(), 0);
    registers_ = std::make_unique_for_overwrite<Register[]>(f_.operands.size());
    begins_.reserve(order_.size() + 1);
    notes_.reserve(f_.operands.size() / 2);
    named_.assign(f_.vregs.size(), {});
    num_followed_ = named_.size();
    if (before_ != nullptr) find_followed();
  }
  void find_followed() {
    for (std::size_t v = 0; v < is_changed_.size(); ++v) named_[v].is_followed = is_changed_[v] != 0;
    for (std::size_t v = 0; v < before_->is_outdated_.size(); ++v)
      if (before_->is_outdated_[v] != 0) named_[v].is_followed = true;
    num_followed_ =
        static_cast<std::size_t>(std::count_if(named_.begin(), named_.end(), [](const Named& n) { return n.is_followed; }));
  }

  void note_block(std::uint32_t place) {
    begins_.push_back({static_cast<std::uint32_t>(notes_.size()), num_registers_});
    const ir::Block& block = block_at_place(place);
    for (std::uint32_t at = block.first_inst; at < block.first_inst + block.num_insts; ++at, ++number_) {
      out_.number_of_[at] = number_;
      out_.inst_at_[number_] = at;
      out_.block_at_[number_] = order_[place];
      if (num_followed_ > 0) note_instruction(f_.insts[at], place);
    }
  }
  // The two note functions are called for every instruction and operand, from one place each. A compiler would inline them if the class were local.
  [[gnu::always_inline]] void note_instruction(const Inst& inst, std::uint32_t place) {
    const std::uint32_t first = num_registers_;
    for (std::uint32_t at = inst.first_operand; at < inst.first_operand + inst.num_operands; ++at) {
      const Operand& op = f_.operands[at];
      if (op.is_vreg() && named_[op.vreg().index()].is_followed) note_register(op, at, place);
    }
    if (first == num_registers_ || !registers_[first].writes) return;
    bool is_guarded = ir::is_guarded(f_.operands_of(inst));
    if (REGDUEL_PLANTED("fatpoint-guarded-def-kills")) is_guarded = false;
    for (std::size_t k = first; k < num_registers_ && registers_[k].writes; ++k) {
      Register& r = registers_[k];
      r.is_guarded = is_guarded;
      Note& n = notes_[r.note];
      n.defines |= r.bytes;
      if (!is_guarded) n.kills |= r.bytes;
    }
  }
  [[gnu::always_inline]] void note_register(const Operand& op, std::uint32_t at, std::uint32_t place) {
    const std::uint32_t v = op.vreg().value;
    Named& named = named_[v];
    if (named.last_note == kNone || named.last_note < begins_.back().note) {
      named.all = byte_mask(0, f_.vregs[v].bytes());
      Note& added = notes_.emplace_back();
      added.vreg = v;
      added.place = place;
      added.earlier = named.last_note;
      if (order_[place].value == 0 && is_defined_at_entry(v)) added.reach_in = ~ByteMask{0};
      named.last_note = static_cast<std::uint32_t>(notes_.size() - 1);
    }
    Note& n = notes_[named.last_note];
    ByteMask bytes = named.all;
    if (!op.part.is_whole()) {
      bytes = bytes_of(f_, op);
      named.cuts |= bytes ^ (bytes << 1);
    }
    const bool reads = op.reads();
    if (reads && (bytes & ~n.kills) != 0 && v < num_global_) {
      n.exposed |= bytes & ~n.kills;
      num_globals_ += named.is_global ? 0 : 1;
      named.is_global = true;
    }
    // Field by field: an object that is copied as a whole right after its parts were written makes the processor wait.
    Register& r = registers_[num_registers_++];
    r.operand = at;
    r.note = named.last_note;
    r.bytes = bytes;
    r.defined = n.defines;
    r.number = number_;
    r.reads = reads;
    r.writes = op.writes();
    r.is_early_clobber = op.is_early_clobber();
    r.is_part = bytes != named.all;
    r.is_guarded = false;
  }

  // --- 2: from block to block

  // Of the vregs that are read in some block before they are wholly written there.
  void list_atoms() {
    if (num_globals_ == 0) return;
    atoms_.reserve(num_globals_);
    for (std::uint32_t v = 0; v < f_.vregs.size(); ++v) {
      if (!named_[v].is_global) continue;
      const int size = f_.vregs[v].bytes();
      for (int begin = 0; begin < size;) {
        int end = begin + 1;
        while (end < size && (named_[v].cuts >> end & 1) == 0) ++end;
        atoms_.push_back({v, byte_mask(begin, end - begin)});
        begin = end;
      }
    }
    states_.assign(order_.size(), {});
    waiting_.resize(order_.size());
    touched_.resize(order_.size());
  }

  // The facts of 64 atoms in one block, a bit an atom. reach_out has those that are read behind the block and that some def reaches.
  struct State {
    std::uint32_t first_vreg = kNone, first_bytes = 0;  // the first atom of those whose state this is
    std::uint64_t named = 0, kills = 0, defines = 0;
    std::uint64_t read_in = 0, read_out = 0, reach_in = 0, reach_out = 0;
  };
  State& state_at(std::uint32_t place, const Atom& first) {
    State& s = states_[place];
    if (s.first_vreg != first.vreg || s.first_bytes != first.bytes) {
      s = {.first_vreg = first.vreg, .first_bytes = first.bytes};
      touched_.insert(place);
    }
    return s;
  }
  // Visits the notes of the vregs of some atoms: visit(note, atoms of its vreg, bit of the first of these).
  template <class Visit>
  void for_each_note(std::span<const Atom> atoms, Visit visit) {
    for (std::size_t k = 0; k < atoms.size();) {
      std::size_t end = k + 1;
      while (end < atoms.size() && atoms[end].vreg == atoms[k].vreg) ++end;
      for (std::uint32_t n = named_[atoms[k].vreg].last_note; n != kNone; n = notes_[n].earlier)
        visit(notes_[n], atoms.subspan(k, end - k), k);
      k = end;
    }
  }

  // First backwards from the reads of atoms to where they are killed; then forwards from their defs, but only through places from
  // which a read was found. This is enough, since every place between a def and a read that it reaches is such a place. Blocks that
  // do not name the vreg become pieces of its range, a run of them one piece.
  void follow(std::span<const Atom> atoms) {
    for_each_note(atoms, [&](const Note& n, std::span<const Atom> of_vreg, std::size_t bit) {
      State& s = state_at(n.place, atoms[0]);
      for (const Atom& a : of_vreg) {
        const std::uint64_t mask = std::uint64_t{1} << bit++;
        s.named |= mask;
        if ((a.bytes & n.kills) != 0) s.kills |= mask;
        if ((a.bytes & n.defines) != 0) s.defines |= mask;
        if ((a.bytes & n.exposed) != 0) s.read_in |= mask;
      }
      if (s.read_in != 0) waiting_.insert(n.place);
    });
    find_reads(atoms[0]);
    find_reached(atoms);
    for_each_note(atoms, [&](Note& n, std::span<const Atom> of_vreg, std::size_t bit) {
      const State& s = states_[n.place];
      for (const Atom& a : of_vreg) {
        if ((s.reach_in >> bit & 1) != 0) n.reach_in |= a.bytes;
        if ((s.reach_out >> bit & 1) != 0) n.live |= a.bytes;
        ++bit;
      }
    });
    push_runs(atoms);
  }
  void find_reads(const Atom& first) {
    while (!waiting_.empty()) {
      const std::uint32_t place = waiting_.pop_highest();
      const std::uint64_t read = states_[place].read_in;
      for (const BlockId p : cfg_.predecessors(order_[place])) {
        if (!cfg_.is_reachable(p)) continue;
        const auto before = static_cast<std::uint32_t>(cfg_.rpo_index(p));
        if (REGDUEL_PLANTED("fatpoint-liveness-forgets-back-edges") && before >= place) continue;
        State& s = state_at(before, first);
        s.read_out |= read;
        if ((read & ~s.kills & ~s.read_in) == 0) continue;
        s.read_in |= read & ~s.kills;
        waiting_.insert(before);
      }
    }
  }
  void find_reached(std::span<const Atom> atoms) {
    const auto leave = [&](std::uint32_t place) {
      State& s = states_[place];
      const std::uint64_t out = s.read_out & (s.defines | s.reach_in);
      if (out == s.reach_out) return;
      s.reach_out = out;
      waiting_.insert(place);
    };
    const auto enter = [&](std::uint32_t place, std::uint64_t reaching, const Atom& first) {
      State& s = state_at(place, first);
      if ((reaching & s.read_in & ~s.reach_in) == 0) return;
      s.reach_in |= reaching & s.read_in;
      leave(place);
    };
    std::uint64_t at_entry = 0;
    for (std::size_t k = 0; k < atoms.size(); ++k)
      if (is_defined_at_entry(atoms[k].vreg)) at_entry |= std::uint64_t{1} << k;
    if (at_entry != 0) enter(0, at_entry, atoms[0]);
    for_each_note(atoms, [&](const Note& n, std::span<const Atom>, std::size_t) { leave(n.place); });
    while (!waiting_.empty()) {
      const std::uint32_t place = waiting_.pop_lowest();
      for (const BlockId b : cfg_.successors(order_[place]))
        enter(static_cast<std::uint32_t>(cfg_.rpo_index(b)), states_[place].reach_out, atoms[0]);
    }
  }
  // Runs of blocks through which an atom lives unnamed.
  void push_runs(std::span<const Atom> atoms) {
    std::uint32_t run_begin[64];
    std::uint64_t open = 0;
    std::uint32_t next = 0;  // the place behind the last one
    const auto close = [&](std::uint64_t closed) {
      for (; closed != 0; closed &= closed - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(closed));
        push(atoms[k].vreg, first_point(run_begin[k]), first_point(next));
      }
    };
    while (!touched_.empty()) {
      const std::uint32_t place = touched_.pop_lowest();
      const State& s = states_[place];
      const std::uint64_t through = s.reach_in & ~s.named;
      const std::uint64_t going_on = place == next ? open & through : 0;
      close(open & ~going_on);
      for (std::uint64_t opened = through & ~going_on; opened != 0; opened &= opened - 1)
        run_begin[std::countr_zero(opened)] = place;
      open = through;
      next = place + 1;
    }
    close(open);
  }

  // --- 3: pieces

  void push(std::uint32_t v, Point begin, Point end) {
    std::uint32_t& newest = named_[v].newest_piece;
    const Interval added{begin, end};
    if (newest != kNone && pieces_[newest].interval.touches(added)) {
      pieces_[newest].interval = pieces_[newest].interval.unite(added);
      return;
    }
    pieces_.push_back({added, newest});
    newest = static_cast<std::uint32_t>(pieces_.size() - 1);
  }

  // Backwards over one block, closing an interval where its value is born.
  void scan_block(std::uint32_t place) {
    const ir::Block& block = block_at_place(place);
    const std::uint32_t first = out_.number_of_[block.first_inst];
    const std::span<Note> notes(notes_.data() + begins_[place].note, notes_.data() + begins_[place + 1].note);
    for (Note& n : notes) n.end = read_point(first + block.num_insts);
    const std::span<const Register> regs(registers_.get() + begins_[place].reg, registers_.get() + begins_[place + 1].reg);
    for (std::size_t end = regs.size(); end > 0;) {
      std::size_t begin = end - 1;
      while (begin > 0 && regs[begin - 1].number == regs[begin].number) --begin;
      scan_instruction(regs.subspan(begin, end - begin), regs[begin].number);
      end = begin;
    }
    if (with_bytes_) note_head(regs, first);
    for (Note& n : notes) {
      if (n.live == 0) continue;
      if ((n.live & n.reach_in) != 0) n.first_def = read_point(first);
      if (n.first_def < n.end) push(n.vreg, n.first_def, n.end);
    }
  }
  // Ranges that begin at R of a block's first instruction because of that instruction.
  void note_head(std::span<const Register> regs, std::uint32_t first) {
    for (const Register& r : regs) {
      if (r.number != first) return;
      const Note& n = notes_[r.note];
      const bool is_held = r.writes && (r.is_guarded || r.is_part || r.is_early_clobber);
      if (is_held || (r.reads && (r.bytes & n.reach_in) == 0)) out_.is_outdated_[n.vreg] = 1;
    }
  }
  //   regs   of the instruction with number i
  [[gnu::always_inline]] void scan_instruction(std::span<const Register> regs, std::uint32_t i) {
    const bool guarded = regs[0].writes && regs[0].is_guarded;
    for (const Register& r : regs) {
      if (!r.writes) break;  // defs come first
      Note& n = notes_[r.note];
      if (with_bytes_) out_.after_[r.operand] = n.live, out_.before_[r.operand] = r.defined | n.reach_in;
      if (REGDUEL_PLANTED("fatpoint-dead-def-has-no-range") && n.live == 0) continue;
      if (n.live == 0 || r.is_part) push(n.vreg, r.is_part ? read_point(i) : write_point(i), write_point(i).next());
      bool is_held_at_reads = guarded || r.is_early_clobber;
      if (REGDUEL_PLANTED("fatpoint-early-clobber-ignored")) is_held_at_reads = guarded;
      if (is_held_at_reads) push(n.vreg, read_point(i), read_point(i).next());
      if (guarded && !r.is_part && n.live != 0) {
        // The new value is whole, so no old byte has to outlast the clobbers, and the range has a hole at C.
        push(n.vreg, write_point(i), n.end);
        n.end = read_point(i).next();
      }
      n.first_def = guarded || r.is_part || r.is_early_clobber ? read_point(i) : write_point(i);
    }
    if (!guarded)
      for (const Register& r : regs) {
        if (!r.writes) break;
        Note& n = notes_[r.note];
        if (n.live == 0) continue;
        n.live &= ~r.bytes;
        if (REGDUEL_PLANTED("fatpoint-part-def-kills-all")) n.live = 0;
        if (n.live == 0) push(n.vreg, write_point(i), n.end);
      }
    for (const Register& r : regs) {
      if (!r.reads) continue;
      Note& n = notes_[r.note];
      const ByteMask read = r.bytes & (r.defined | n.reach_in);
      if (with_bytes_) out_.read_[r.operand] = read;
      if (read == 0) {
        push(n.vreg, read_point(i), read_point(i).next());
      } else {
        if (n.live == 0) n.end = read_point(i).next();
        n.live |= read;
      }
    }
  }

  // Pieces to ranges: by vreg, sorted, touching ones merged.
  void collect() {
    out_.range_begin_.resize(f_.vregs.size() + 1);
    out_.intervals_.reserve(pieces_.size() + (before_ == nullptr ? 0 : before_->intervals_.size()));
    if (before_ != nullptr) find_moved();
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      const std::size_t start = out_.intervals_.size();
      out_.range_begin_[v] = static_cast<std::uint32_t>(start);
      if (!named_[v].is_followed) {
        take(before_->range(v), start);
        continue;
      }
      bool is_sorted = true;
      for (std::uint32_t k = named_[v].newest_piece; k != kNone; k = pieces_[k].older) {
        const Interval& i = pieces_[k].interval;
        is_sorted = is_sorted && (out_.intervals_.size() == start || out_.intervals_.back().end < i.begin);
        out_.intervals_.push_back(i);
      }
      if (!is_sorted) merge_from(start);
    }
    out_.range_begin_[f_.vregs.size()] = static_cast<std::uint32_t>(out_.intervals_.size());
  }
  // A range of the program before. Two of its intervals touch where the instruction between them is gone.
  void take(std::span<const Interval> range, std::size_t start) {
    for (const Interval& old : range) {
      const Interval now{moved(old.begin), moved(old.end)};
      if (out_.intervals_.size() > start && out_.intervals_.back().touches(now))
        out_.intervals_.back() = out_.intervals_.back().unite(now);
      else out_.intervals_.push_back(now);
    }
  }

  // The new points of the points of the program before. A point at a block's head stays there, before added instructions.
  void find_moved() {
    const std::uint32_t count = before_->num_numbered();
    moved_.resize(count + 1);
    std::size_t place = 0;
    for (std::uint32_t n = 0; n < count; ++n) {
      const std::uint32_t now = now_at_[before_->inst_at(n)];
      moved_[n].inst = now == Liveness::kUnnumbered ? Point(kNone) : read_point(out_.number_of_[now]);
      const bool is_head = n == 0 || before_->block_at(n) != before_->block_at(n - 1);
      moved_[n].read = is_head ? first_point(place++) : moved_[n].inst;
    }
    moved_[count].read = first_point(place);
  }
  [[nodiscard]] Point moved(Point p) const {
    const Moved& to = moved_[p.inst()];
    return p.moment() == 0 ? to.read : Point(to.inst.value + p.moment());
  }
  void merge_from(std::size_t start) {
    std::vector<Interval>& all = out_.intervals_;
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(start), all.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    std::size_t last = start;
    for (std::size_t k = start + 1; k < all.size(); ++k) {
      if (all[last].touches(all[k])) all[last] = all[last].unite(all[k]);
      else all[++last] = all[k];
    }
    all.resize(last + 1);
  }

  Liveness& out_;
  const Function& f_;
  const ir::Cfg& cfg_;
  const std::span<const BlockId> order_;  // reverse postorder: where a block stands in it is its place
  const std::size_t num_global_;
  const bool with_bytes_;
  const Liveness* before_ = nullptr;  // ranges are taken over from it
  std::span<const std::uint32_t> now_at_;
  std::span<const char> is_changed_;
  struct Moved {
    Point read, inst;  // the new point of R, which is the block's head if R was; and the new R of the instruction
  };
  std::vector<Moved> moved_;               // by number in the program before
  std::unique_ptr<Register[]> registers_;  // by number of the instruction
  std::uint32_t num_registers_ = 0;
  std::uint32_t number_ = 0;  // of the instruction that is noted
  std::vector<Note> notes_;   // by place
  struct Begin {
    std::uint32_t note, reg;
  };
  std::vector<Begin> begins_;                       // by place: of its notes and registers; one more at the end
  std::vector<Named> named_;                        // by vreg
  std::size_t num_followed_ = 0, num_globals_ = 0;  // vregs
  std::vector<Atom> atoms_;                         // by vreg, ascending
  std::vector<State> states_;                       // by place
  PlaceQueue waiting_, touched_;
  std::vector<Piece> pieces_;
};

Liveness::Liveness(const Function& f, const ir::Cfg& cfg) { LivenessBuilder(*this, f, cfg, f.vregs.size(), true).run(); }
Liveness::Liveness(const Function& f, const ir::Cfg& cfg, std::size_t num_global) {
  LivenessBuilder(*this, f, cfg, num_global, false).run();
}
Liveness::Liveness(const Function& f, const ir::Cfg& cfg, const Liveness& before, std::span<const std::uint32_t> now_at,
                   std::span<const char> is_changed) {
  LivenessBuilder builder(*this, f, cfg, is_changed.size(), false);
  builder.take_over(before, now_at, is_changed);
  builder.run();
}

}  // namespace regduel::allocator
