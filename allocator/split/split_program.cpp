// See split_program.h.

#include "allocator/split/split_program.h"

#include <algorithm>
#include <map>

#include "allocator/program/names.h"
#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// Live candidates at the heads of all blocks beyond which the tables of next_use.h and residence.h would be too large.
constexpr std::size_t kMostLiveAtHeads = 4'000'000;
// Weighted spill bytes of programs in deep loops, against one walk: 0.959 with two, 0.953 with three. Of twelve profiles at 75% of
// MaxLive three leave 0.998 of those of two, and a fourth changes little.
constexpr std::size_t kMostWalks = 2;

using Event = Residence::Event;

class Splitter {
 public:
  Splitter(const Function& f, const ir::Cfg& cfg, const Liveness& live, const SplitCandidates& candidates,
           const Residence& residence, const MoveWeights& weights)
      : f_(f), cfg_(cfg), live_(live), candidates_(candidates), residence_(residence), is_recomputed_(weights.is_recomputed),
        frequency_(weights.frequency) {
    find_moves();
    choose_stores();
    count_moves();
  }
  [[nodiscard]] std::int64_t moves() const { return moves_; }

  SplitProgram run() {
    name_pieces();
    write();
    return std::move(out_);
  }

 private:
  struct Edge {
    BlockId from, to;
    std::uint32_t candidate;
    bool is_load;  // else it leaves its register
    bool stores = false;
    std::uint32_t node = kNone;
  };
  // An event in the life of a candidate in one block that concerns its memory, in order.
  struct Change {
    enum class Kind : std::uint8_t { Load, Leave, Def, DefInMemory } kind;
    std::uint32_t candidate;
    std::uint32_t event = kNone;  // of Leave
    std::uint32_t inst = 0;
  };

  [[nodiscard]] bool is_split(std::uint32_t c) const { return c != kNone && residence_.is_split[c] != 0; }
  [[nodiscard]] bool is_remat(std::uint32_t c) const { return is_recomputed_[candidates_.vregs[c].index()] != 0; }

  // --- what moves
  void find_moves() {
    edges_.reserve(residence_.edge_changes.size());
    for (const Residence::EdgeChange& change : residence_.edge_changes)
      edges_.push_back({change.from, change.to, change.candidate, change.is_load});
    // Events by block, with the defs between them.
    changes_.resize(f_.blocks.size());
    std::size_t e = 0;
    for (const BlockId b : cfg_.reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
        for (; e < residence_.events.size() && residence_.events[e].inst == i; ++e) {
          const Event& event = residence_.events[e];
          if (!is_split(event.candidate)) continue;
          changes_[b.index()].push_back({event.kind == Event::Kind::Load ? Change::Kind::Load : Change::Kind::Leave,
                                         event.candidate, static_cast<std::uint32_t>(e), i});
        }
        const Inst& inst = f_.insts[i];
        for (std::size_t k = inst.first_operand; k < inst.first_operand + inst.num_operands; ++k) {
          const Operand& op = f_.operands[k];
          if (!op.is_vreg() || !op.writes() || !is_split(candidates_[op.vreg()])) continue;
          changes_[b.index()].push_back(
              {residence_.in_memory[k] != 0 ? Change::Kind::DefInMemory : Change::Kind::Def, candidates_[op.vreg()], kNone, i});
        }
      }
    }
  }

  // --- stores: lazily, or behind each def
  void choose_stores() {
    event_stores_.assign(residence_.events.size(), 0);
    stores_at_defs_.assign(candidates_.size(), 0);
    std::vector<std::int64_t> lazy(candidates_.size(), 0), at_defs(candidates_.size(), 0);
    find_lazy_stores(lazy);
    for (const BlockId b : cfg_.reverse_postorder())
      for (const Change& change : changes_[b.index()]) {
        if (change.kind != Change::Kind::Def) continue;
        at_defs[change.candidate] += f_.insts[change.inst].is_terminator() ? std::int64_t{1} << 40 : frequency_[b.index()];
      }
    for (std::uint32_t c = 0; c < candidates_.size(); ++c) stores_at_defs_[c] = at_defs[c] < lazy[c] ? 1 : 0;
    for (std::size_t e = 0; e < residence_.events.size(); ++e) {
      const std::uint32_t c = residence_.events[e].candidate;
      if (stores_at_defs_[c] != 0 || is_remat(c)) event_stores_[e] = 0;
    }
    for (Edge& edge : edges_)
      if (stores_at_defs_[edge.candidate] != 0 || is_remat(edge.candidate)) edge.stores = false;
  }
  void count_moves() {
    const auto add = [&](std::uint32_t c, std::int64_t times) {
      if (!is_remat(c)) moves_ += times * slot_bytes(f_.vreg(candidates_.vregs[c]));
    };
    for (const BlockId b : cfg_.reverse_postorder())
      for (const Change& change : changes_[b.index()]) {
        const std::int64_t times = frequency_[b.index()];
        switch (change.kind) {
          case Change::Kind::Load: add(change.candidate, times); break;
          case Change::Kind::Leave: add(change.candidate, event_stores_[change.event] != 0 ? times : 0); break;
          case Change::Kind::Def: add(change.candidate, stores_at_defs_[change.candidate] != 0 ? times : 0); break;
          case Change::Kind::DefInMemory: add(change.candidate, 2 * times); break;
        }
      }
    for (const Edge& edge : edges_)
      if (edge.is_load || edge.stores) add(edge.candidate, std::min(frequency_[edge.from.index()], frequency_[edge.to.index()]));
  }
  // Memory has the value at a head if it has it at the ends of all predecessors, or if the value is in no register there.
  void find_lazy_stores(std::vector<std::int64_t>& cost) {
    // By block: 1 = memory has the value. In the order of Residence.
    std::vector<std::vector<char>> at_head(f_.blocks.size()), at_end(f_.blocks.size());
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      at_head[b].assign(residence_.at_head[b].size(), 1);
      at_end[b].assign(residence_.at_end[b].size(), 1);
    }
    std::vector<char> now(candidates_.size(), 1);
    const auto walk = [&](BlockId b, auto leaves) {
      const std::vector<std::uint32_t>& head = residence_.at_head[b.index()];
      for (std::size_t k = 0; k < head.size(); ++k) now[head[k]] = at_head[b.index()][k];
      for (const Change& change : changes_[b.index()]) {
        char& is_valid = now[change.candidate];
        if (change.kind == Change::Kind::Leave) leaves(change, is_valid != 0);
        is_valid = change.kind == Change::Kind::Def ? 0 : 1;
      }
    };
    const auto enter = [&](BlockId b, BlockId p) {
      const std::vector<std::uint32_t>&head = residence_.at_head[b.index()], &end = residence_.at_end[p.index()];
      for (std::size_t k = 0, e = 0; k < head.size(); ++k) {
        while (e < end.size() && end[e] < head[k]) ++e;
        if (e < end.size() && end[e] == head[k] && at_end[p.index()][e] == 0) at_head[b.index()][k] = 0;
      }
    };
    const auto forget = [&](BlockId b) {
      for (const std::uint32_t c : residence_.at_head[b.index()]) now[c] = 1;
      for (const Change& change : changes_[b.index()]) now[change.candidate] = 1;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : cfg_.reverse_postorder()) {
        for (const BlockId p : cfg_.predecessors(b))
          if (cfg_.is_reachable(p)) enter(b, p);
        walk(b, [](const Change&, bool) {});
        const std::vector<std::uint32_t>& end = residence_.at_end[b.index()];
        for (std::size_t k = 0; k < end.size(); ++k) {
          changed = changed || at_end[b.index()][k] != now[end[k]];
          at_end[b.index()][k] = now[end[k]];
        }
        forget(b);
      }
    }
    for (const BlockId b : cfg_.reverse_postorder()) {
      walk(b, [&](const Change& change, bool is_valid) {
        if (is_valid) return;
        event_stores_[change.event] = 1;
        cost[change.candidate] += frequency_[b.index()];
      });
      forget(b);
    }
    for (Edge& edge : edges_) {
      if (edge.is_load) continue;
      const std::vector<std::uint32_t>& end = residence_.at_end[edge.from.index()];
      const auto k = std::lower_bound(end.begin(), end.end(), edge.candidate) - end.begin();
      if (at_end[edge.from.index()][static_cast<std::size_t>(k)] != 0) continue;
      edge.stores = true;
      cost[edge.candidate] += std::min(frequency_[edge.from.index()], frequency_[edge.to.index()]);
    }
  }

  // --- names: stretches in registers that touch are one piece
  std::uint32_t new_node(std::uint32_t c) {
    parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    candidate_of_.push_back(c);
    return parent_.back();
  }
  std::uint32_t find(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  // The lower number stands for both, so that pieces are numbered as they come.
  void unite(std::uint32_t a, std::uint32_t b) {
    a = find(a), b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  void name_pieces() {
    node_of_operand_.assign(f_.operands.size(), kNone);
    node_of_event_.assign(residence_.events.size(), kNone);
    // By block: nodes of those that are in registers there, in the order of Residence.
    std::vector<std::vector<std::uint32_t>> at_head(f_.blocks.size()), at_end(f_.blocks.size());
    for (const BlockId b : cfg_.reverse_postorder())
      for (const std::uint32_t c : residence_.at_head[b.index()]) at_head[b.index()].push_back(is_split(c) ? new_node(c) : kNone);
    const auto node_at = [](const std::vector<std::uint32_t>& list, const std::vector<std::uint32_t>& nodes, std::uint32_t c) {
      const auto it = std::lower_bound(list.begin(), list.end(), c);
      return it == list.end() || *it != c ? kNone : nodes[static_cast<std::size_t>(it - list.begin())];
    };
    std::vector<std::uint32_t> now(candidates_.size(), kNone);
    std::size_t e = 0;
    for (const BlockId b : cfg_.reverse_postorder()) {
      // A candidate that is not global is not read before it is written; a global one has no value from an earlier block here.
      std::fill_n(now.begin(), candidates_.num_global, kNone);
      for (std::size_t k = 0; k < at_head[b.index()].size(); ++k) now[residence_.at_head[b.index()][k]] = at_head[b.index()][k];
      const ir::Block& block = f_.block(b);
      for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
        const std::size_t first_event = e;
        for (; e < residence_.events.size() && residence_.events[e].inst == i; ++e) {
          const Event& event = residence_.events[e];
          if (!is_split(event.candidate)) continue;
          if (event.kind == Event::Kind::Load) node_of_event_[e] = now[event.candidate] = new_node(event.candidate);
          else node_of_event_[e] = now[event.candidate];
        }
        name_operands(f_.insts[i], now);
        // This instruction still reads the value from its register; behind it the value has left.
        for (std::size_t k = first_event; k < e; ++k) {
          const Event& event = residence_.events[k];
          if (is_split(event.candidate) && event.kind == Event::Kind::Leave && node_of_event_[k] == now[event.candidate])
            now[event.candidate] = kNone;
        }
      }
      for (const std::uint32_t c : residence_.at_end[b.index()]) at_end[b.index()].push_back(now[c]);
    }
    for (const BlockId b : cfg_.reverse_postorder())
      for (const BlockId s : cfg_.successors(b))
        for (const std::uint32_t node : at_head[s.index()]) {
          if (node == kNone) continue;
          const std::uint32_t before = node_at(residence_.at_end[b.index()], at_end[b.index()], candidate_of_[node]);
          if (before != kNone) unite(node, before);
        }
    for (Edge& edge : edges_)
      edge.node = edge.is_load ? node_at(residence_.at_head[edge.to.index()], at_head[edge.to.index()], edge.candidate)
                               : node_at(residence_.at_end[edge.from.index()], at_end[edge.from.index()], edge.candidate);
  }
  void name_operands(const Inst& inst, std::vector<std::uint32_t>& now) {
    for (const bool is_new : {false, true})
      for (std::size_t k = inst.first_operand; k < inst.first_operand + inst.num_operands; ++k) {
        const Operand& op = f_.operands[k];
        if (!op.is_vreg()) continue;
        const std::uint32_t c = candidates_[op.vreg()];
        if (!is_split(c) || begins_piece(f_, live_, inst, k) != is_new || residence_.in_memory[k] != 0) continue;
        if (is_new || now[c] == kNone) now[c] = new_node(c);
        node_of_operand_[k] = now[c];
      }
    // A result in memory leaves nothing in a register.
    for (std::size_t k = inst.first_operand; k < inst.first_operand + inst.num_operands; ++k)
      if (residence_.in_memory[k] != 0 && f_.operands[k].writes()) now[candidates_[f_.operands[k].vreg()]] = kNone;
  }

  // --- the program
  void write() {
    Function& out = out_.f = f_.clone_header();
    out.reserve(f_.insts.size() + f_.insts.size() / 4, f_.operands.size() + f_.operands.size() / 4);
    out.blocks.reserve(f_.blocks.size() + edges_.size());
    out_.first_of.resize(f_.vregs.size());
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) out_.first_of[v] = VRegId(v);
    memory_of_.assign(candidates_.size(), VRegId());
    piece_of_.assign(parent_.size(), VRegId());
    std::vector<char> has_first(candidates_.size(), 0);
    for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
      if (!is_split(c)) continue;
      const VRegId v = candidates_.vregs[c];
      memory_of_[c] = is_remat(c) ? v : add_piece(v);
      has_first[c] = is_remat(c) ? 1 : 0;
      out_.in_memory.push_back(memory_of_[c]);
    }
    for (std::uint32_t node = 0; node < parent_.size(); ++node) {
      if (find(node) != node) continue;
      const std::uint32_t c = candidate_of_[node];
      piece_of_[node] = has_first[c] != 0 ? add_piece(candidates_.vregs[c]) : candidates_.vregs[c];
      has_first[c] = 1;
    }
    place_edges();
    std::size_t e = 0;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) block(BlockId(b), e);
    for (const auto& [edge, list] : edge_blocks_) {
      ir::Block attributes;
      attributes.edge_from = BlockId(edge.first);
      attributes.edge_to = BlockId(edge.second);
      out.begin_block(attributes);
      moves(list);
      Inst bra;
      bra.op = Op::Bra;
      bra.flags = ir::kInserted;
      const BlockId target[] = {BlockId(edge.second)};
      out.append(bra, {}, target);
    }
  }
  VRegId add_piece(VRegId of) {
    ir::VReg v = f_.vreg(of);
    v.flags = 0;
    v.hint = {};
    v.name = {};
    out_.first_of.push_back(of);
    return out_.f.add_vreg(v);
  }
  [[nodiscard]] VRegId piece(std::uint32_t node) {
    REGDUEL_CHECK(node != kNone, "a value moves that is in no register");
    return piece_of_[find(node)];
  }

  using BlockEdge = std::pair<std::uint32_t, std::uint32_t>;
  void place_edges() {
    for (const Edge& edge : edges_) {
      if (!edge.is_load && !edge.stores) continue;
      const auto ops = f_.operands_of(f_.terminator(edge.from));
      const bool touches = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.is_register(); });
      if (cfg_.predecessors(edge.to).size() == 1) at_head_[edge.to.value].push_back(&edge);
      else if (cfg_.successors(edge.from).size() == 1 && !touches) at_tail_[edge.from.value].push_back(&edge);
      else edge_blocks_[{edge.from.value, edge.to.value}].push_back(&edge);
    }
    std::uint32_t number = static_cast<std::uint32_t>(f_.blocks.size());
    for (const auto& [edge, list] : edge_blocks_) number_of_edge_[edge] = number++;
  }
  void move(VRegId to, VRegId from, ir::Part part = {}) {
    Operand ops[] = {Operand::of_vreg(Role::Def, to), Operand::of_vreg(Role::Use, from)};
    ops[0].part = ops[1].part = part;
    Inst inst;
    inst.op = Op::Copy;
    inst.flags = ir::kInserted;
    out_.f.append(inst, ops);
  }
  // Stores first: they give registers back.
  void moves(const std::vector<const Edge*>& list) {
    for (const Edge* edge : list)
      if (edge->stores) move(memory_of_[edge->candidate], piece(edge->node));
    for (const Edge* edge : list)
      if (edge->is_load) move(piece(edge->node), memory_of_[edge->candidate]);
  }
  void block(BlockId b, std::size_t& e) {
    out_.f.begin_block(f_.block(b));
    const auto head = at_head_.find(b.value), tail = at_tail_.find(b.value);
    bool at_head = true;
    const ir::Block& block = f_.block(b);
    if (cfg_.is_reachable(b)) e = first_event(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const Inst& inst = f_.insts[i];
      if (at_head && !inst.is_deleted()) {
        if (head != at_head_.end()) moves(head->second);
        at_head = false;
      }
      if (inst.is_terminator() && tail != at_tail_.end()) {
        events(i, e);
        moves(tail->second);
      } else {
        events(i, e);
      }
      instruction(inst);
    }
  }
  [[nodiscard]] std::size_t first_event(BlockId b) {
    if (event_begin_.empty()) {
      event_begin_.assign(f_.blocks.size(), 0);
      std::size_t e = 0;
      for (const BlockId r : cfg_.reverse_postorder()) {
        event_begin_[r.index()] = e;
        const ir::Block& block = f_.block(r);
        while (e < residence_.events.size() && residence_.events[e].inst >= block.first_inst &&
               residence_.events[e].inst < block.first_inst + block.num_insts)
          ++e;
      }
    }
    return event_begin_[b.index()];
  }
  void events(std::uint32_t inst, std::size_t& e) {
    const bool may_store = !REGDUEL_PLANTED("fatpoint-split-leaves-unstored");
    for (; e < residence_.events.size() && residence_.events[e].inst == inst; ++e) {
      const Event& event = residence_.events[e];
      if (!is_split(event.candidate)) continue;
      if (event.kind == Event::Kind::Load) move(piece(node_of_event_[e]), memory_of_[event.candidate]);
      else if (event_stores_[e] != 0 && may_store) move(memory_of_[event.candidate], piece(node_of_event_[e]));
    }
  }
  void instruction(const Inst& inst) {
    Inst& added = out_.f.append(inst, f_.operands_of(inst), f_.targets_of(inst));
    const auto ops = out_.f.operands_of(added);
    struct Store {
      VRegId to, from;
      ir::Part part;
    };
    std::vector<Store> stores;
    for (std::size_t o = 0; o < ops.size(); ++o) {
      Operand& op = ops[o];
      if (!op.is_vreg()) continue;
      const std::uint32_t c = candidates_[op.vreg()];
      if (!is_split(c)) continue;
      const std::size_t k = inst.first_operand + o;
      if (node_of_operand_[k] == kNone) {
        if (residence_.in_memory[k] != 0) op.set_vreg(memory_of_[c]);
        continue;  // an unreachable block
      }
      const VRegId p = piece(node_of_operand_[k]);
      const bool lives_on = op.writes() && live_.live_after(k) != 0;
      if (op.writes() && is_remat(c)) {
        if (lives_on) stores.push_back({p, memory_of_[c], {}});
        continue;
      }
      if (lives_on && stores_at_defs_[c] != 0) stores.push_back({memory_of_[c], p, op.part});
      op.set_vreg(p);
    }
    for (ir::BlockId& to : std::span(out_.f.targets).last(added.num_targets)) {
      const auto it = number_of_edge_.find({static_cast<std::uint32_t>(out_.f.blocks.size() - 1), to.value});
      if (it != number_of_edge_.end()) to = BlockId(it->second);
    }
    for (const Store& s : stores) move(s.to, s.from, s.part);
  }

  const Function& f_;
  const ir::Cfg& cfg_;
  const Liveness& live_;
  const SplitCandidates& candidates_;
  const Residence& residence_;
  std::span<const char> is_recomputed_;
  std::span<const std::int64_t> frequency_;
  SplitProgram out_;
  std::int64_t moves_ = 0;  // weighted bytes that stores and refills move
  std::vector<Edge> edges_;
  std::vector<std::vector<Change>> changes_;  // by block
  std::vector<char> event_stores_, stores_at_defs_;
  std::vector<std::uint32_t> parent_, candidate_of_;  // by node
  std::vector<std::uint32_t> node_of_operand_, node_of_event_;
  std::vector<VRegId> memory_of_, piece_of_;
  std::vector<std::size_t> event_begin_;
  std::map<std::uint32_t, std::vector<const Edge*>> at_head_, at_tail_;
  std::map<BlockEdge, std::vector<const Edge*>> edge_blocks_;
  std::map<BlockEdge, std::uint32_t> number_of_edge_;
};

// Global ones occur in several blocks, or are read in the only one before they are written.
SplitCandidates find_candidates(const Function& f, const ir::Cfg& cfg, const Liveness& live, const Registers& registers,
                                std::span<const char> can_split) {
  constexpr std::uint32_t kUnseen = kNone, kSeveral = kNone - 1;
  std::vector<std::uint32_t> block_of(f.vregs.size(), kUnseen);
  for (const BlockId b : cfg.reverse_postorder())
    for (const Inst& inst : f.insts_of(b))
      for (const bool reads : {true, false})
        for (std::size_t k = inst.first_operand; k < inst.first_operand + inst.num_operands; ++k) {
          const Operand& op = f.operands[k];
          if (!op.is_vreg() || needs_old_value(f, live, inst, k) != reads) continue;
          std::uint32_t& block = block_of[op.vreg().index()];
          if (block == kUnseen) block = reads ? kSeveral : b.value;
          else if (block != b.value) block = kSeveral;
        }
  SplitCandidates candidates;
  candidates.number_of.assign(f.vregs.size(), SplitCandidates::kNone);
  for (const bool is_global : {true, false}) {
    for (std::size_t v = 0; v < f.vregs.size(); ++v) {
      if (can_split[v] == 0 || live.range(v).empty() || !registers.is_scarce[ir::index(f.vregs[v].file())]) continue;
      if ((block_of[v] == kSeveral) != is_global) continue;
      candidates.number_of[v] = static_cast<std::uint32_t>(candidates.size());
      candidates.vregs.push_back(VRegId(v));
    }
    if (is_global) candidates.num_global = candidates.size();
  }
  return candidates;
}

// About how many global candidates are live at the heads of all blocks together.
std::size_t count_live_at_heads(const ir::Cfg& cfg, const Liveness& live, const SplitCandidates& candidates) {
  const auto position = [&](std::uint32_t row) {
    return static_cast<std::size_t>(cfg.rpo_index(live.block_at(std::min(row / 2, live.num_numbered() - 1))));
  };
  std::size_t sum = 0;
  for (std::size_t c = 0; c < candidates.num_global; ++c)
    for (const Interval& i : live.range(candidates.vregs[c].index())) sum += position(end_row(i)) - position(first_row(i));
  return sum;
}

// Whether every value that lives around a loop is in its register at the end of it. Another walk would find the same then.
bool keeps_all_around_loops(const ir::Cfg& cfg, const NextUse& next, const Residence& walk) {
  bool all = true;
  for (const BlockId b : cfg.reverse_postorder())
    for (const BlockId s : cfg.successors(b))
      if (cfg.rpo_index(s) <= cfg.rpo_index(b))
        next.for_each_on_edge(b, s, [&](std::uint32_t c) { all = all && walk.is_at_end(b, c); });
  return all;
}

}  // namespace

std::optional<SplitProgram> split_live_ranges(const Function& f, const ir::Cfg& cfg, const Liveness& live,
                                              const Registers& registers, std::span<const char> can_split,
                                              std::span<const char> is_recomputed, std::span<const std::int64_t> frequency,
                                              std::span<const int> loop_depth, const std::function<bool(std::int64_t)>& is_wanted) {
  const SplitCandidates candidates = find_candidates(f, cfg, live, registers, can_split);
  if (candidates.size() == 0 || count_live_at_heads(cfg, live, candidates) > kMostLiveAtHeads) return std::nullopt;
  const NextUse next(f, cfg, live, candidates, {frequency, loop_depth});
  const MoveWeights weights{frequency, is_recomputed};
  // Each walk takes the state at the ends of loops from the walk before. Walks end when one moves no less than the one before, or the
  // next one would do the same.
  std::vector<Residence> walks;
  walks.reserve(kMostWalks);
  std::optional<Splitter> best;
  while (walks.size() < kMostWalks) {
    walks.push_back(find_residence(f, cfg, live, registers, candidates, next, weights, walks.empty() ? nullptr : &walks.back()));
    const std::vector<char>& is_split = walks.back().is_split;
    if (std::none_of(is_split.begin(), is_split.end(), [](char s) { return s != 0; })) return std::nullopt;
    Splitter splitter(f, cfg, live, candidates, walks.back(), weights);
    if (best && splitter.moves() >= best->moves()) break;
    best.emplace(std::move(splitter));
    if (keeps_all_around_loops(cfg, next, walks.back())) break;
  }
  if (!is_wanted(best->moves())) return std::nullopt;
  return best->run();
}

}  // namespace regduel::allocator
