#include "reference/textbook/split_edges.h"

#include <algorithm>

namespace regduel::reference {

Where Places::of(TempId t) const {
  const auto at = std::ranges::lower_bound(temps, t, {}, [](const auto& place) { return place.first; });
  return at != temps.end() && at->first == t ? at->second : Where{};
}

// --- pieces -------------------------------------------------------------------------------------------------------
Pieces::Pieces(const Problem& problem, const Plan& plan, const std::vector<Temp>& temps)
    : problem_(problem), plan_(plan), temps_(temps), slot_of_(temps.size(), kNoSource),
      operand_temp_(problem.program().operands.size(), kNoTemp) {}

TempId Pieces::piece(TempId t, int unit) {
  const auto [at, is_new] = pieces_.try_emplace(std::uint64_t{t} << 16 | static_cast<std::uint64_t>(unit), kNoTemp);
  if (is_new) {
    at->second = static_cast<TempId>(new_temps_.size());
    new_temps_.push_back(temps_[t]);
    old_of_.push_back(t);
    homes_.push_back({temps_[t].file, temps_[t].units, static_cast<std::uint16_t>(unit)});
  }
  return at->second;
}

std::uint32_t Pieces::slot(TempId t) {
  if (slot_of_[t] == kNoSource) slot_of_[t] = plan_.add_slot(temps_[t].bytes);
  return slot_of_[t];
}

CodeInst Pieces::with_refs(CodeInst inst, std::span<const Ref> refs) {
  inst.first_ref = static_cast<std::uint32_t>(refs_.size());
  inst.num_refs = static_cast<std::uint16_t>(refs.size());
  inst.copy_pairs = 0;
  refs_.insert(refs_.end(), refs.begin(), refs.end());
  return inst;
}

void Pieces::store(Insts& to, TempId t, int unit, std::uint32_t slot) {
  CodeInst inst{.kind = CodeKind::Store, .bytes = static_cast<std::uint8_t>(temps_[t].bytes)};
  inst.slot = slot;
  to.push_back(with_refs(inst, {{piece(t, unit), kReads | kAtReads}}));
}
void Pieces::refill(Insts& to, TempId t, int unit, std::uint32_t slot) {
  CodeInst inst{.kind = CodeKind::Refill, .bytes = static_cast<std::uint8_t>(temps_[t].bytes)};
  inst.slot = slot;
  to.push_back(with_refs(inst, {{piece(t, unit), kWrites | kKills | kKillsBytes}}));
}
void Pieces::move(Insts& to, TempId t, int unit, int from) {
  const CodeInst inst{.kind = CodeKind::Move, .bytes = static_cast<std::uint8_t>(temps_[t].bytes)};
  to.push_back(with_refs(inst, {{piece(t, unit), kWrites | kKills | kKillsBytes}, {piece(t, from), kReads | kAtReads}}));
}
void Pieces::store_bytes(Insts& to, TempId t, int unit, std::uint32_t slot, int begin, int bytes) {
  CodeInst inst{.kind = CodeKind::Store, .src_offset = static_cast<std::uint8_t>(begin), .bytes = static_cast<std::uint8_t>(bytes)};
  inst.slot = slot;
  inst.slot_offset = static_cast<std::uint32_t>(begin);
  to.push_back(with_refs(inst, {{piece(t, unit), kReads | kAtReads}}));
}
void Pieces::refill_bytes(Insts& to, TempId t, int unit, std::uint32_t slot, int begin, int bytes) {
  CodeInst inst{
      .kind = CodeKind::Refill, .dst_offset = static_cast<std::uint8_t>(begin), .bytes = static_cast<std::uint8_t>(bytes)};
  inst.slot = slot;
  inst.slot_offset = static_cast<std::uint32_t>(begin);
  to.push_back(with_refs(inst, {{piece(t, unit), kWrites}}));
}
void Pieces::again(Insts& to, TempId t, int unit, std::uint32_t inst) {
  to.push_back(with_refs({.kind = CodeKind::Remat, .remat_of = inst}, {{piece(t, unit), kWrites | kKills | kKillsBytes}}));
}
void Pieces::refill_part(Insts& to, CodeInst move, TempId d, int unit, std::uint32_t slot) {
  move.kind = CodeKind::Refill;
  move.slot = slot;
  move.slot_offset = move.src_offset;
  to.push_back(with_refs(move, {{piece(d, unit), kWrites}}));
}
void Pieces::store_part(Insts& to, CodeInst move, std::uint32_t slot, TempId s, int unit) {
  move.kind = CodeKind::Store;
  move.slot = slot;
  move.slot_offset = move.dst_offset;
  to.push_back(with_refs(move, {{piece(s, unit), kReads | kAtReads}}));
}

bool Pieces::overlap(const Transfer& m, const Transfer& o) const {
  const Temp &a = temps_[m.temp], &b = temps_[o.temp];
  return a.file == b.file && m.to < o.from + b.units && o.from < m.to + a.units;
}
void Pieces::moves(Insts& to, std::vector<Transfer> left) {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t k = 0; k < left.size(); ++k) {
      bool is_free = true;
      for (std::size_t o = 0; o < left.size(); ++o) is_free = is_free && (o == k || !overlap(left[k], left[o]));
      if (!is_free) continue;
      move(to, left[k].temp, left[k].to, left[k].from);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(k));
      goes_on = true;
      break;
    }
  }
  for (const ir::RegFile file : ir::kAllFiles) {
    std::vector<Ref> refs;
    for (const Transfer& t : left) {
      if (temps_[t.temp].file != file) continue;
      refs.push_back({piece(t.temp, t.to), kWrites | kKills | kKillsBytes});
      refs.push_back({piece(t.temp, t.from), kReads | kAtReads});
    }
    if (!refs.empty()) to.push_back(with_refs({.kind = CodeKind::Move}, refs));
  }
}

std::vector<TempId> Pieces::out_of_reach(const Code& code) const {
  std::vector<TempId> found;
  if (!problem_.memory_through_r()) return found;
  for (const CodeInst& inst : code.insts)
    if (inst.kind == CodeKind::Store || inst.kind == CodeKind::Refill)
      if (const TempId t = code.refs_of(inst)[0].temp; code.temps[t].file != ir::RegFile::R) found.push_back(old_of_[t]);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
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
  Joiner(Code& code, const OnEdge& on_edge, const Problem& problem, std::vector<Pieces::Insts>& blocks)
      : code_(code), on_edge_(on_edge), problem_(problem), blocks_(blocks) {}

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
  // The block that follows: the successor, or a new block on the way there.
  std::uint32_t edge(std::uint32_t b, std::uint32_t s, bool is_only) {
    Pieces::Insts insts = on_edge_(b, s);
    if (insts.empty()) return s;
    if (is_only && code_.blocks[b].is_edge_block()) {
      blocks_[b].insert(blocks_[b].end(), insts.begin(), insts.end());
    } else if (is_only && reads_nothing(blocks_[b].back()) && code_.blocks[b].freq <= code_.blocks[s].freq) {
      blocks_[b].insert(blocks_[b].end() - 1, insts.begin(), insts.end());
    } else if (s != 0 && code_.blocks[s].freq <= code_.blocks[b].freq &&
               std::ranges::count_if(code_.predecessors[s], [&](auto p) { return code_.blocks[p].is_reachable; }) == 1) {
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

  Code& code_;
  const OnEdge& on_edge_;
  const Problem& problem_;
  std::vector<Pieces::Insts>& blocks_;
};

// Stores first, then moves, each before its source is overwritten, then refills. A ring of moves goes through memory.
using Transfer = Pieces::Transfer;

// Whether m writes what o reads.
bool overlap(const Code& code, const Transfer& m, const Transfer& o) {
  const Temp &a = code.temps[m.temp], &b = code.temps[o.temp];
  return a.file == b.file && m.to < o.from + b.units && o.from < m.to + a.units;
}

Pieces::Insts transfers(const Code& code, const Places& end, const Places& head, Pieces& pieces) {
  Pieces::Insts insts;
  std::vector<Transfer> moves, refills;
  for (const auto& [t, to] : head.temps) {
    const Where from = end.of(t);
    if (code.temps[t].fixed.is_valid() || (from.unit < 0 && !from.in_memory)) continue;  // on this way it has no contents
    if (to.in_memory && !from.in_memory) pieces.store(insts, t, from.unit);
    if (to.unit < 0 || to.unit == from.unit) continue;
    (from.unit >= 0 ? moves : refills).push_back({t, to.unit, from.unit});
  }
  while (!moves.empty()) {
    const auto ready = std::ranges::find_if(moves, [&](const Transfer& m) {
      return std::ranges::none_of(moves, [&](const Transfer& o) { return o.temp != m.temp && overlap(code, m, o); });
    });
    const auto next = ready != moves.end() ? ready : moves.begin();
    if (ready != moves.end()) {
      pieces.move(insts, next->temp, next->to, next->from);
    } else {
      if (!end.of(next->temp).in_memory && !head.of(next->temp).in_memory) pieces.store(insts, next->temp, next->from);
      refills.push_back(*next);
    }
    moves.erase(next);
  }
  for (const Transfer& r : refills) pieces.refill(insts, r.temp, r.to);
  return insts;
}

}  // namespace

void join_blocks(Code& code, const std::vector<std::uint32_t>& order, const OnEdge& on_edge, const Problem& problem,
                 std::vector<Pieces::Insts>& blocks) {
  Joiner(code, on_edge, problem, blocks).run(order);
}
void join_blocks(Code& code, const std::vector<std::uint32_t>& order, const std::vector<Places>& heads,
                 const std::vector<Places>& ends, const Problem& problem, Pieces& pieces, std::vector<Pieces::Insts>& blocks) {
  join_blocks(
      code, order, [&](std::uint32_t b, std::uint32_t s) { return transfers(code, ends[b], heads[s], pieces); }, problem, blocks);
}

}  // namespace regduel::reference
