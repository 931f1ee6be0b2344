// Which names the program before reads again, at the head of each block: the state at a block keeps these and no more, so that states
// stay as small as the live ranges are. A guarded def does not end a live range; defs of parts do together; a copy reads its source.
//
// Name by name, backwards from the blocks that read it to the defs (the "path exploration" of Appel, Modern Compiler Implementation,
// 1998, and Boissinot et al., "Computing Liveness Sets for SSA-Form Programs", 2011), so the cost is that of the answer.
// Tested through symbolic_test.cpp.

#include <algorithm>
#include <utility>

#include "oracles/symbolic_plan.h"

namespace regduel::oracles::symbolic {
namespace {

class LiveNames {
 public:
  explicit LiveNames(Plan& plan) : plan_(plan), num_blocks_(plan.blocks.size()) {}

  void run() {
    written_in_.assign(plan_.num_names, kNoIndex);
    written_.assign(plan_.num_names, 0);
    exposed_in_.assign(plan_.num_names, kNoIndex);
    for (const std::uint32_t b : plan_.order) block(b);
    for (const std::uint32_t b : plan_.order)
      for (std::uint32_t e = plan_.edges_of[b].begin; e < plan_.edges_of[b].end; ++e) edge(plan_.edges[e]);
    find_predecessors();
    spread();
  }

 private:
  struct Event {
    std::uint32_t name, block;
  };

  // Bytes of the word k of a place, as in Plan::bytes_of_name; all of them for a predicate.
  static unsigned bytes_at(const Place& p, std::uint32_t k) {
    if (p.step == 1) return kOneByte;
    unsigned bytes = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
      if (4 * k + i >= p.offset && 4 * k + i < p.offset + p.size) bytes |= 1u << i;
    return bytes;
  }
  // The bytes of a name that the block has written so far.
  std::uint8_t& written(std::uint32_t name, std::uint32_t b) {
    if (written_in_[name] != b) {
      written_in_[name] = b;
      written_[name] = 0;
    }
    return written_[name];
  }
  void read(const Place& p, std::uint32_t b) {
    for (std::uint32_t k = 0; k < p.cells() && p.size != 0; ++k) {
      const std::uint32_t name = p.cell + k;
      if (exposed_in_[name] == b || (bytes_at(p, k) & ~written(name, b)) == 0) continue;
      exposed_in_[name] = b;
      exposed_.push_back({name, b});
    }
  }
  // A live range ends where all bytes of the word have been written, by one def or by several of its parts.
  void write(const StepOperand& op, std::uint32_t b) {
    for (std::uint32_t k = 0; k < op.name.cells() && op.name.size != 0; ++k) {
      const std::uint32_t name = op.name.cell + k;
      std::uint8_t& bytes = written(name, b);
      const unsigned all = plan_.bytes_of_name[name];
      if ((bytes & all) == all) continue;
      bytes |= static_cast<std::uint8_t>(op.is_wordwise ? all : bytes_at(op.name, k));
      if ((bytes & all) == all) killed_.push_back({name, b});
    }
  }

  void block(std::uint32_t b) {
    for (std::uint32_t i = plan_.blocks[b].begin; i < plan_.blocks[b].end; ++i) {
      const Step& s = plan_.steps[i];
      const auto ops = plan_.operands_of(s);
      if (s.guard != kNoIndex) read(plan_.operands[s.guard].name, b);
      switch (s.kind) {
        case StepKind::Operate:
        case StepKind::Gather:
          for (const StepOperand& op : ops)
            if ((op.role == ir::Role::Use || op.role == ir::Role::DefUse) && (!s.is_deleted || s.kind == StepKind::Gather)) read(op.name, b);
          if (s.guard != kNoIndex) break;
          for (const StepOperand& op : ops)
            if (op.role == ir::Role::Def || op.role == ir::Role::DefUse) write(op, b);
          break;
        case StepKind::Rename:
        case StepKind::Snapshot:
          for (const StepOperand& op : ops)
            if (op.role != ir::Role::Guard) read(op.loc, b);
          if (s.guard != kNoIndex) break;
          for (const StepOperand& op : ops) write(op, b);
          break;
        case StepKind::Remat:
          for (const StepOperand& op : ops)
            if (op.role == ir::Role::Use) read(op.name, b);
          break;
        case StepKind::Move:
        case StepKind::ToPack:
        case StepKind::FromPack:
        case StepKind::Remember: break;
      }
    }
  }
  void edge(const FlowEdge& e) {
    if (e.renames == kNoIndex) return;
    for (const StepOperand& op : plan_.operands_of(plan_.steps[e.renames])) {
      for (std::uint32_t k = 0; k < op.loc.cells(); ++k) needed_after_.push_back({op.loc.cell + k, e.from});
      for (std::uint32_t k = 0; k < op.name.cells(); ++k)
        if (op.is_wordwise) renamed_.push_back({op.name.cell + k, e.to});
    }
  }
  void find_predecessors() {
    pred_begin_.assign(num_blocks_ + 1, 0);
    for (const FlowEdge& e : plan_.edges) ++pred_begin_[e.to + 1];
    for (std::size_t b = 0; b < num_blocks_; ++b) pred_begin_[b + 1] += pred_begin_[b];
    preds_.resize(plan_.edges.size());
    auto next = pred_begin_;
    for (const FlowEdge& e : plan_.edges) preds_[next[e.to]++] = e.from;
  }

  // Events in order of name: a counting sort.
  void sort_by_name(std::vector<Event>& events, std::vector<std::uint32_t>& begin) const {
    begin.assign(plan_.num_names + 1, 0);
    for (const Event& e : events) ++begin[e.name + 1];
    for (std::size_t n = 0; n < plan_.num_names; ++n) begin[n + 1] += begin[n];
    std::vector<Event> sorted(events.size());
    auto next = begin;
    for (const Event& e : events) sorted[next[e.name]++] = e;
    events = std::move(sorted);
  }

  void spread() {
    std::vector<std::uint32_t> exposed_at, killed_at, renamed_at, after_at;
    sort_by_name(exposed_, exposed_at);
    sort_by_name(killed_, killed_at);
    sort_by_name(renamed_, renamed_at);
    sort_by_name(needed_after_, after_at);
    std::vector<std::uint32_t> kills(num_blocks_, kNoIndex), renames(num_blocks_, kNoIndex), lives(num_blocks_, kNoIndex), work;
    std::vector<Event> found;
    const auto enter = [&](std::uint32_t name, std::uint32_t b) {
      if (lives[b] == name) return;
      lives[b] = name;
      found.push_back({name, b});
      work.push_back(b);
    };
    for (std::uint32_t n = 0; n < plan_.num_names; ++n) {
      if (exposed_at[n] == exposed_at[n + 1] && after_at[n] == after_at[n + 1]) continue;
      for (std::uint32_t k = killed_at[n]; k < killed_at[n + 1]; ++k) kills[killed_[k].block] = n;
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
    plan_.live_begin.assign(num_blocks_ + 1, 0);
    for (const Event& e : found) ++plan_.live_begin[e.block + 1];
    for (std::size_t b = 0; b < num_blocks_; ++b) plan_.live_begin[b + 1] += plan_.live_begin[b];
    plan_.live.resize(found.size());
    auto next = plan_.live_begin;
    for (const Event& e : found) plan_.live[next[e.block]++] = e.name;
  }

  Plan& plan_;
  std::size_t num_blocks_;
  std::vector<std::uint32_t> written_in_, exposed_in_;  // by name: the last block
  std::vector<std::uint8_t> written_;
  std::vector<Event> exposed_, killed_;   // read before it is written; written
  std::vector<Event> renamed_;            // written by the phis at the head of the block
  std::vector<Event> needed_after_;       // read by phis on an edge from the block
  std::vector<std::uint32_t> pred_begin_, preds_;
};

}  // namespace

void find_live_names(Plan& plan) { LiveNames(plan).run(); }

}  // namespace regduel::oracles::symbolic
