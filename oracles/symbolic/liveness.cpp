// Which names the program before reads again, and which locations the program after, at the head of each block: the state at a
// block keeps these and no more, so that states stay as small as the live ranges are, and that nothing is gone through again for
// the sake of what is left over in a register. A guarded def does not end a live range; defs of parts do together; a copy reads its
// source.
//
// Place by place, backwards from the blocks that read it to the defs (the "path exploration" of Appel, Modern Compiler
// Implementation, 1998, and Boissinot et al., "Computing Liveness Sets for SSA-Form Programs", 2011), so the cost is that of the
// answer. Tested by plan_test.cpp.

#include <algorithm>
#include <utility>

#include "oracles/symbolic/plan.h"

namespace regduel::oracles::symbolic {
namespace {

// Bytes of the word k of a place, as in Plan::bytes_of_name; all of them for a predicate.
std::uint8_t bytes_at(const Place& p, std::uint32_t k) {
  if (p.step == 1) return kOneByte;
  const std::uint32_t begin = k == 0 ? p.offset : 0, end = std::min(p.offset + p.size - 4 * k, 4u);
  return static_cast<std::uint8_t>((1u << end) - (1u << begin));
}

// Of the names, or of the locations: both are places here.
class Liveness {
 public:
  Liveness(const Plan& plan, std::size_t num_places)
      : plan_(plan), num_blocks_(plan.blocks.size()), last_of_(num_places, kNoIndex), bytes_read_(num_places, 0) {
    usages_.reserve(plan.operands.size());
  }

  LiveSets of_names() {
    for (const std::uint32_t b : plan_.order)
      for (const Step& s : plan_.steps_of(b)) step_of_names(s, b);
    for (const FlowEdge& e : plan_.edges) {
      if (e.renames == kNoIndex) continue;
      for (const StepOperand& op : plan_.operands_of(plan_.steps[e.renames])) {
        read_after(op.loc, e.from);
        for (std::uint32_t k = 0; k < op.name.cells() && op.is_wordwise; ++k)
          usages_.push_back({.place = op.name.cell + k, .block = e.to, .is_renamed = true});
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
  // What a block does with a place. The steps of a block make one for the two of them; an edge makes one of its own.
  struct Usage {
    std::uint32_t place = 0, block = 0;
    std::uint8_t written = 0;    // bytes
    bool is_read_first = false;  // some byte is read before it is written
    bool is_read_after = false;  // read by phis on an edge from the block
    bool is_renamed = false;     // written by the phis at the head of the block
  };

  // That of the place at hand in the block at hand, where there is one.
  [[nodiscard]] Usage* known(std::uint32_t place, std::uint32_t b) {
    const std::uint32_t last = last_of_[place];
    return last != kNoIndex && usages_[last].block == b ? &usages_[last] : nullptr;
  }
  Usage& usage(std::uint32_t place, std::uint32_t b) {
    if (Usage* u = known(place, b)) return *u;
    last_of_[place] = static_cast<std::uint32_t>(usages_.size());
    return usages_.emplace_back(Usage{.place = place, .block = b});
  }
  void read(const Place& p, std::uint32_t b) {
    for (std::uint32_t k = 0; k < p.cells() && p.size != 0; ++k) {
      const std::uint8_t bytes = bytes_at(p, k);
      bytes_read_[p.cell + k] |= bytes;
      Usage& u = usage(p.cell + k, b);
      u.is_read_first = u.is_read_first || (bytes & ~u.written) != 0;
    }
  }
  void write(const Place& p, bool is_whole, std::uint32_t b) {
    for (std::uint32_t k = 0; k < p.cells() && p.size != 0; ++k)
      usage(p.cell + k, b).written |= is_whole ? std::uint8_t{0xFF} : bytes_at(p, k);
  }
  void read_after(const Place& p, std::uint32_t b) {
    for (std::uint32_t k = 0; k < p.cells(); ++k) {
      bytes_read_[p.cell + k] |= bytes_at(p, k);
      usages_.push_back({.place = p.cell + k, .block = b, .is_read_after = true});
    }
  }

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

  // The usages in order of place: a counting sort. [begin[p], begin[p + 1]) are those of place p.
  [[nodiscard]] std::vector<std::uint32_t> sort_by_place() {
    std::vector<std::uint32_t> begin(bytes_read_.size() + 1, 0);
    for (const Usage& u : usages_) ++begin[u.place + 1];
    for (std::size_t n = 0; n < bytes_read_.size(); ++n) begin[n + 1] += begin[n];
    std::vector<Usage> sorted(usages_.size());
    auto next = begin;
    for (const Usage& u : usages_) sorted[next[u.place]++] = u;
    usages_ = std::move(sorted);
    return begin;
  }

  //   live_in(b)  = is_read_first(b)  or  live_out(b) and not kills(b)
  //   live_out(b) = is_read_after(b)  or  live_in(s) and not is_renamed(s) for some successor s
  //   kills(b)    : all bytes of the place that anything reads are written in b, by one def or by several of its parts
  LiveSets spread() {
    find_predecessors();
    const std::vector<std::uint32_t> begin = sort_by_place();
    std::vector<std::uint32_t> kills(num_blocks_, kNoIndex), renames(num_blocks_, kNoIndex), lives(num_blocks_, kNoIndex), work;
    struct Found {
      std::uint32_t place, block;
    };
    std::vector<Found> found;
    const auto enter = [&](std::uint32_t place, std::uint32_t b) {
      if (lives[b] == place) return;
      lives[b] = place;
      found.push_back({place, b});
      work.push_back(b);
    };
    for (std::uint32_t n = 0; n < bytes_read_.size(); ++n) {
      const std::span<const Usage> usages{usages_.data() + begin[n], begin[n + 1] - begin[n]};
      if (std::none_of(usages.begin(), usages.end(), [](const Usage& u) { return u.is_read_first || u.is_read_after; })) continue;
      for (const Usage& u : usages) {
        if ((bytes_read_[n] & ~u.written) == 0) kills[u.block] = n;
        if (u.is_renamed) renames[u.block] = n;
        if (u.is_read_first) enter(n, u.block);
      }
      for (const Usage& u : usages)
        if (u.is_read_after && kills[u.block] != n) enter(n, u.block);
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
    for (const Found& e : found) ++sets.begin[e.block + 1];
    for (std::size_t b = 0; b < num_blocks_; ++b) sets.begin[b + 1] += sets.begin[b];
    sets.places.resize(found.size());
    auto next = sets.begin;
    for (const Found& e : found) sets.places[next[e.block]++] = e.place;
    return sets;
  }

  const Plan& plan_;
  std::size_t num_blocks_;
  std::vector<Usage> usages_;
  std::vector<std::uint32_t> last_of_;    // by place: its last usage that steps made
  std::vector<std::uint8_t> bytes_read_;  // by place: the bytes that anything reads
  std::vector<std::uint32_t> pred_begin_, preds_;
};

}  // namespace

void find_live(Plan& plan) {
  plan.live_names = Liveness(plan, plan.num_names).of_names();
  plan.live_locations = Liveness(plan, plan.num_locations).of_locations();
}

}  // namespace regduel::oracles::symbolic
