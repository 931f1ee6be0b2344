#include "reference/textbook/split_edges.h"

#include <algorithm>

namespace regduel::reference {

Where Places::of(TempId t) const {
  const auto at = std::ranges::lower_bound(temps, t, {}, [](const auto& place) { return place.first; });
  return at != temps.end() && at->first == t ? at->second : Where{};
}

// --- pieces -------------------------------------------------------------------------------------------------------
Pieces::Pieces(const Problem& problem, const Plan& plan, const std::vector<Temp>& temps)
    : plan_(plan), temps_(temps), slot_of_(temps.size(), kNoSource), operand_temp_(problem.program().operands.size(), kNoTemp) {}

TempId Pieces::piece(TempId t, int unit) {
  const auto [at, is_new] = pieces_.try_emplace(std::uint64_t{t} << 16 | static_cast<std::uint64_t>(unit), kNoTemp);
  if (is_new) {
    at->second = static_cast<TempId>(new_temps_.size());
    new_temps_.push_back(temps_[t]);
    homes_.push_back({temps_[t].file, temps_[t].units, static_cast<std::uint16_t>(unit)});
  }
  return at->second;
}

std::uint32_t Pieces::slot(TempId t) {
  if (slot_of_[t] == kNoSource) slot_of_[t] = plan_.add_slot(temps_[t].bytes);
  return slot_of_[t];
}

CodeInst Pieces::with_refs(CodeInst inst, std::initializer_list<Ref> refs) {
  inst.first_ref = static_cast<std::uint32_t>(refs_.size());
  inst.num_refs = static_cast<std::uint16_t>(refs.size());
  inst.copy_pairs = 0;
  refs_.insert(refs_.end(), refs);
  return inst;
}

void Pieces::store(Insts& to, TempId t, int unit) {
  CodeInst inst{.kind = CodeKind::Store, .bytes = static_cast<std::uint8_t>(temps_[t].bytes)};
  inst.slot = slot(t);
  to.push_back(with_refs(inst, {{piece(t, unit), kReads | kAtReads}}));
}
void Pieces::refill(Insts& to, TempId t, int unit) {
  CodeInst inst{.kind = CodeKind::Refill, .bytes = static_cast<std::uint8_t>(temps_[t].bytes)};
  inst.slot = slot(t);
  to.push_back(with_refs(inst, {{piece(t, unit), kWrites | kKills | kKillsBytes}}));
}
void Pieces::move(Insts& to, TempId t, int unit, int from) {
  const CodeInst inst{.kind = CodeKind::Move, .bytes = static_cast<std::uint8_t>(temps_[t].bytes)};
  to.push_back(with_refs(inst, {{piece(t, unit), kWrites | kKills | kKillsBytes}, {piece(t, from), kReads | kAtReads}}));
}
void Pieces::refill_part(Insts& to, CodeInst move, TempId d, int unit, TempId s) {
  move.kind = CodeKind::Refill;
  move.slot = slot(s);
  move.slot_offset = move.src_offset;
  to.push_back(with_refs(move, {{piece(d, unit), kWrites}}));
}
void Pieces::store_part(Insts& to, CodeInst move, TempId d, TempId s, int unit) {
  move.kind = CodeKind::Store;
  move.slot = slot(d);
  move.slot_offset = move.dst_offset;
  to.push_back(with_refs(move, {{piece(s, unit), kReads | kAtReads}}));
}

Code Pieces::code(const Code& old, const std::vector<Insts>& blocks) const {
  Code code;
  code.temps = new_temps_;
  code.blocks = old.blocks;
  code.successors = old.successors;
  code.predecessors = old.predecessors;
  code.refs = refs_;
  code.parts = old.parts;
  code.operand_temp = operand_temp_;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    code.blocks[b].first_inst = static_cast<std::uint32_t>(code.insts.size());
    code.blocks[b].num_insts = static_cast<std::uint32_t>(blocks[b].size());
    code.insts.insert(code.insts.end(), blocks[b].begin(), blocks[b].end());
  }
  return code;
}

// --- edges --------------------------------------------------------------------------------------------------------
namespace {

class Joiner {
 public:
  Joiner(Code& code, const std::vector<Places>& heads, const std::vector<Places>& ends, const Problem& problem, Pieces& pieces,
         std::vector<Pieces::Insts>& blocks)
      : code_(code), heads_(heads), ends_(ends), problem_(problem), pieces_(pieces), blocks_(blocks) {}

  void run(const std::vector<std::uint32_t>& order) {
    const std::size_t old = code_.blocks.size();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const std::uint32_t b : order) {
      std::vector<std::uint32_t> successors(code_.successors[b].begin(), code_.successors[b].end());
      std::ranges::sort(successors);
      successors.erase(std::ranges::unique(successors).begin(), successors.end());
      for (const std::uint32_t s : successors) edges.emplace_back(b, edge(b, s, successors.size() == 1));
    }
    if (code_.blocks.size() == old) return;
    for (std::size_t b = 0; b < old; ++b)
      if (!code_.blocks[b].is_reachable)
        for (const std::uint32_t s : code_.successors[b]) edges.emplace_back(static_cast<std::uint32_t>(b), s);
    for (std::size_t b = old; b < code_.blocks.size(); ++b)
      edges.emplace_back(static_cast<std::uint32_t>(b), code_.blocks[b].edge_to.value);
    code_.successors.build_from(code_.blocks.size(), edges, [](auto& e) { return e.first; }, [](auto& e) { return e.second; });
    code_.predecessors.build_from(code_.blocks.size(), edges, [](auto& e) { return e.second; }, [](auto& e) { return e.first; });
  }

 private:
  struct Transfer {
    TempId temp;
    int to, from;
  };

  // The block that follows: the successor, or a new block on the way there.
  std::uint32_t edge(std::uint32_t b, std::uint32_t s, bool is_only) {
    Pieces::Insts insts = on_edge(b, s);
    if (insts.empty()) return s;
    if (is_only && code_.blocks[b].is_edge_block()) {
      blocks_[b].insert(blocks_[b].end(), insts.begin(), insts.end());
    } else if (is_only && reads_nothing(blocks_[b].back())) {
      blocks_[b].insert(blocks_[b].end() - 1, insts.begin(), insts.end());
    } else if (s != 0 && std::ranges::count_if(code_.predecessors[s], [&](auto p) { return code_.blocks[p].is_reachable; }) == 1) {
      const auto first = std::ranges::find_if(blocks_[s], [](const CodeInst& i) { return i.kind != CodeKind::Deleted; });
      blocks_[s].insert(first, insts.begin(), insts.end());
    } else {
      CodeBlock block;
      block.edge_from = ir::BlockId(b);
      block.edge_to = ir::BlockId(s);
      block.freq = std::min(code_.blocks[b].freq, code_.blocks[s].freq);
      code_.blocks.push_back(block);
      blocks_.push_back(std::move(insts));
      return static_cast<std::uint32_t>(code_.blocks.size() - 1);
    }
    return s;
  }
  [[nodiscard]] bool reads_nothing(const CodeInst& terminator) const {
    return terminator.kind == CodeKind::Original && terminator.num_refs == 0 && problem_.shape(terminator.source).items.empty() &&
           !problem_.shape(terminator.source).has_clobbers();
  }

  // Stores first, then moves, each before its source is overwritten, then refills. A ring of moves goes through memory.
  Pieces::Insts on_edge(std::uint32_t b, std::uint32_t s) {
    Pieces::Insts insts;
    std::vector<Transfer> moves, refills;
    for (const auto& [t, to] : heads_[s].temps) {
      const Where from = ends_[b].of(t);
      if (code_.temps[t].fixed.is_valid() || (from.unit < 0 && !from.in_memory)) continue;  // on this way it has no contents
      if (to.in_memory && !from.in_memory) pieces_.store(insts, t, from.unit);
      if (to.unit < 0 || to.unit == from.unit) continue;
      (from.unit >= 0 ? moves : refills).push_back({t, to.unit, from.unit});
    }
    while (!moves.empty()) {
      const auto ready = std::ranges::find_if(moves, [&](const Transfer& m) {
        return std::ranges::none_of(moves, [&](const Transfer& o) { return o.temp != m.temp && overlap(m, o); });
      });
      const auto next = ready != moves.end() ? ready : moves.begin();
      if (ready != moves.end()) {
        pieces_.move(insts, next->temp, next->to, next->from);
      } else {
        if (!ends_[b].of(next->temp).in_memory && !heads_[s].of(next->temp).in_memory) pieces_.store(insts, next->temp, next->from);
        refills.push_back(*next);
      }
      moves.erase(next);
    }
    for (const Transfer& r : refills) pieces_.refill(insts, r.temp, r.to);
    return insts;
  }
  // Whether m writes what o reads.
  [[nodiscard]] bool overlap(const Transfer& m, const Transfer& o) const {
    const Temp &a = code_.temps[m.temp], &b = code_.temps[o.temp];
    return a.file == b.file && m.to < o.from + b.units && o.from < m.to + a.units;
  }

  Code& code_;
  const std::vector<Places>&heads_, &ends_;
  const Problem& problem_;
  Pieces& pieces_;
  std::vector<Pieces::Insts>& blocks_;
};

}  // namespace

void join_blocks(Code& code, const std::vector<std::uint32_t>& order, const std::vector<Places>& heads,
                 const std::vector<Places>& ends, const Problem& problem, Pieces& pieces, std::vector<Pieces::Insts>& blocks) {
  Joiner(code, heads, ends, problem, pieces, blocks).run(order);
}

}  // namespace regduel::reference
