// Which names the program before reads again, and which locations the program after, at the head of each block: the state at a
// block keeps these and no more, so that states stay as small as the live ranges are, and that nothing is gone through again for
// the sake of what is left over in a register. A guarded def does not end a live range; defs of parts do together; a copy reads its
// source.
//
// Place by place, backwards from the blocks that read it to the defs (the "path exploration" of Appel, Modern Compiler
// Implementation, 1998, and Boissinot et al., "Computing Liveness Sets for SSA-Form Programs", 2011), so the cost is that of the
// answer. Tested by symbolic_plan_test.cpp.

#include <algorithm>
#include <utility>

#include "oracles/symbolic/plan.h"

namespace regduel::oracles::symbolic {
namespace {

// Bytes of the word k of a place, as in Plan::bytes_of_name; all of them for a predicate.
unsigned bytes_at(const Place& p, std::uint32_t k) {
  if (p.step == 1) return kOneByte;
  unsigned bytes = 0;
  for (std::uint32_t i = 0; i < 4; ++i)
    if (4 * k + i >= p.offset && 4 * k + i < p.offset + p.size) bytes |= 1u << i;
  return bytes;
}

// Of the names, or of the locations: both are places here.
class Liveness {
 public:
  Liveness(const Plan& plan, std::size_t num_places)
      : plan_(plan), num_places_(num_places), num_blocks_(plan.blocks.size()), written_in_(num_places, kNoIndex),
        written_(num_places, 0), bytes_read_(num_places, 0) {}

  LiveSets of_names() {
    for (const std::uint32_t b : plan_.order)
      for (const Step& s : plan_.steps_of(b)) step_of_names(s, b);
    for (const FlowEdge& e : plan_.edges) {
      if (e.renames == kNoIndex) continue;
      for (const StepOperand& op : plan_.operands_of(plan_.steps[e.renames])) {
        read_after(op.loc, e.from);
        for (std::uint32_t k = 0; k < op.name.cells() && op.is_wordwise; ++k) renamed_.push_back({op.name.cell + k, e.to});
      }
    }
    return spread();
  }

  // What a phi writes that was kept is taken to be live before it too: a phi is seldom kept.
  LiveSets of_locations() {
    for (const std::uint32_t b : plan_.order)
      for (const Step& s : plan_.steps_of(b)) step_of_locations(s, b);
    for (const FlowEdge& e : plan_.edges) {
      if (e.moves == kNoIndex) continue;
      for (const StepOperand& op : plan_.operands_of(plan_.steps[e.moves])) read_after(op.loc, e.from);
    }
    return spread();
  }

 private:
  struct Event {
    std::uint32_t place, block;
    unsigned bytes = 0;  // of a write: all that the block has written of the place so far
  };

  // The bytes of a place that the block has written so far.
  std::uint8_t& written(std::uint32_t place, std::uint32_t b) {
    if (written_in_[place] != b) {
      written_in_[place] = b;
      written_[place] = 0;
    }
    return written_[place];
  }
  void read(const Place& p, std::uint32_t b) {
    for (std::uint32_t k = 0; k < p.cells() && p.size != 0; ++k) {
      bytes_read_[p.cell + k] |= static_cast<std::uint8_t>(bytes_at(p, k));
      if ((bytes_at(p, k) & ~written(p.cell + k, b)) != 0) exposed_.push_back({p.cell + k, b});
    }
  }
  void write(const Place& p, bool is_whole, std::uint32_t b) {
    for (std::uint32_t k = 0; k < p.cells() && p.size != 0; ++k) {
      std::uint8_t& bytes = written(p.cell + k, b);
      bytes |= static_cast<std::uint8_t>(is_whole ? 0xFFu : bytes_at(p, k));
      writes_.push_back({p.cell + k, b, bytes});
    }
  }
  void read_after(const Place& p, std::uint32_t b) {
    for (std::uint32_t k = 0; k < p.cells(); ++k) {
      bytes_read_[p.cell + k] |= static_cast<std::uint8_t>(bytes_at(p, k));
      needed_after_.push_back({p.cell + k, b});
    }
  }
  // A live range ends where all bytes of the word that anything reads have been written, by one def or by several of its parts.
  [[nodiscard]] bool ends_live_range(const Event& write) const { return (bytes_read_[write.place] & ~write.bytes) == 0; }

  void step_of_names(const Step& s, std::uint32_t b) {
    const auto ops = plan_.operands_of(s);
    if (s.guard != kNoIndex) read(plan_.operands[s.guard].name, b);
    switch (s.kind) {
      case StepKind::Operate:
      case StepKind::Gather:
        for (const StepOperand& op : ops)
          if (op.role == ir::Role::Use || op.role == ir::Role::DefUse) read(op.name, b);
        if (s.guard != kNoIndex) return;
        for (const StepOperand& op : ops)
          if (op.role == ir::Role::Def || op.role == ir::Role::DefUse) write(op.name, op.is_wordwise, b);
        return;
      case StepKind::Rename:
      case StepKind::Snapshot:
        for (const StepOperand& op : ops)
          if (op.role != ir::Role::Guard) read(op.loc, b);
        if (s.guard != kNoIndex) return;
        for (const StepOperand& op : ops) write(op.name, op.is_wordwise, b);
        return;
      case StepKind::Remat:
        for (const StepOperand& op : ops)
          if (op.role == ir::Role::Use) read(op.name, b);
        return;
      case StepKind::Move:
      case StepKind::ToPack:
      case StepKind::FromPack:
      case StepKind::Remember: return;
    }
  }

  // A step under a guard leaves what was there where the guard does not hold; a pack keeps its other bits.
  void step_of_locations(const Step& s, std::uint32_t b) {
    const auto ops = plan_.operands_of(s);
    const bool is_move = s.kind == StepKind::Move;
    if (s.kind == StepKind::Rename || s.kind == StepKind::Snapshot) return;
    for (const StepOperand& op : ops) {
      if (op.role == ir::Role::Use || op.role == ir::Role::DefUse || op.role == ir::Role::Guard || is_move) read(op.loc, b);
      if (op.role == ir::Role::Def && s.kind == StepKind::Remat) read(op.name, b);  // the ghost
    }
    for (const SavedUnit& unit : plan_.saved)
      if (s.is_ret) read({unit.loc, 4, 0, 4}, b);
    for (const StepOperand& op : ops)
      if (s.guard == kNoIndex && (op.role == ir::Role::Def || op.role == ir::Role::DefUse || op.role == ir::Role::Clobber))
        write(is_move ? op.name : op.loc, false, b);
  }
  void find_predecessors() {
    pred_begin_.assign(num_blocks_ + 1, 0);
    for (const FlowEdge& e : plan_.edges) ++pred_begin_[e.to + 1];
    for (std::size_t b = 0; b < num_blocks_; ++b) pred_begin_[b + 1] += pred_begin_[b];
    preds_.resize(plan_.edges.size());
    auto next = pred_begin_;
    for (const FlowEdge& e : plan_.edges) preds_[next[e.to]++] = e.from;
  }

  // Events in order of place: a counting sort.
  void sort_by_place(std::vector<Event>& events, std::vector<std::uint32_t>& begin) const {
    begin.assign(num_places_ + 1, 0);
    for (const Event& e : events) ++begin[e.place + 1];
    for (std::size_t n = 0; n < num_places_; ++n) begin[n + 1] += begin[n];
    std::vector<Event> sorted(events.size());
    auto next = begin;
    for (const Event& e : events) sorted[next[e.place]++] = e;
    events = std::move(sorted);
  }

  LiveSets spread() {
    find_predecessors();
    std::vector<std::uint32_t> exposed_at, written_at, renamed_at, after_at;
    sort_by_place(exposed_, exposed_at);
    sort_by_place(writes_, written_at);
    sort_by_place(renamed_, renamed_at);
    sort_by_place(needed_after_, after_at);
    std::vector<std::uint32_t> kills(num_blocks_, kNoIndex), renames(num_blocks_, kNoIndex), lives(num_blocks_, kNoIndex), work;
    std::vector<Event> found;
    const auto enter = [&](std::uint32_t place, std::uint32_t b) {
      if (lives[b] == place) return;
      lives[b] = place;
      found.push_back({place, b});
      work.push_back(b);
    };
    for (std::uint32_t n = 0; n < num_places_; ++n) {
      if (exposed_at[n] == exposed_at[n + 1] && after_at[n] == after_at[n + 1]) continue;
      for (std::uint32_t k = written_at[n]; k < written_at[n + 1]; ++k)
        if (ends_live_range(writes_[k])) kills[writes_[k].block] = n;
      for (std::uint32_t k = renamed_at[n]; k < renamed_at[n + 1]; ++k) renames[renamed_[k].block] = n;
      for (std::uint32_t k = exposed_at[n]; k < exposed_at[n + 1]; ++k) enter(n, exposed_[k].block);
      for (std::uint32_t k = after_at[n]; k < after_at[n + 1]; ++k)
        if (kills[needed_after_[k].block] != n) enter(n, needed_after_[k].block);
      while (!work.empty()) {
        const std::uint32_t b = work.back();
        work.pop_back();
        if (renames[b] == n) continue;
        for (std::uint32_t p = pred_begin_[b]; p < pred_begin_[b + 1]; ++p)
          if (kills[preds_[p]] != n) enter(n, preds_[p]);
      }
    }
    LiveSets sets;
    sets.begin.assign(num_blocks_ + 1, 0);
    for (const Event& e : found) ++sets.begin[e.block + 1];
    for (std::size_t b = 0; b < num_blocks_; ++b) sets.begin[b + 1] += sets.begin[b];
    sets.places.resize(found.size());
    auto next = sets.begin;
    for (const Event& e : found) sets.places[next[e.block]++] = e.place;
    return sets;
  }

  const Plan& plan_;
  std::size_t num_places_, num_blocks_;
  std::vector<std::uint32_t> written_in_;  // by place: the last block
  std::vector<std::uint8_t> written_;
  std::vector<std::uint8_t> bytes_read_;  // by place: the bytes that anything reads
  std::vector<Event> exposed_, writes_;   // read before it is written; written
  std::vector<Event> renamed_;            // written by the phis at the head of the block
  std::vector<Event> needed_after_;       // read by phis on an edge from the block
  std::vector<std::uint32_t> pred_begin_, preds_;
};

}  // namespace

void find_live(Plan& plan) {
  plan.live_names = Liveness(plan, plan.num_names).of_names();
  plan.live_locations = Liveness(plan, plan.num_locations).of_locations();
}

}  // namespace regduel::oracles::symbolic
