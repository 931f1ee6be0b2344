// See contents.h.

#include "reference/program/contents.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

namespace regduel::reference {

Contents::Contents(const Problem& problem, const Code& code) : problem_(problem), code_(code) {
  find_writes();
  find_groups();
  if (has_groups()) solve();
  else in_.resize(code.blocks.size());
}

void Contents::find_writes() {
  // A slot has contents where all that is moved to and from it is as large.
  std::vector<int> bytes;
  for (const CodeInst& inst : code_.insts) {
    if (inst.kind != CodeKind::Refill && inst.kind != CodeKind::Store) continue;
    if (inst.slot >= bytes.size()) bytes.resize(inst.slot + 1, 0);
    int& of_slot = bytes[inst.slot];
    const bool is_whole = inst.slot_offset == 0 && (of_slot == 0 || of_slot == inst.bytes);
    of_slot = is_whole ? inst.bytes : -1;
  }
  num_places_ = code_.temps.size() + bytes.size();
  const auto slot = [&](const CodeInst& inst) { return static_cast<TempId>(code_.temps.size() + inst.slot); };
  const auto is_whole = [&](const CodeInst& inst, TempId t) { return bytes[inst.slot] == code_.temps[t].bytes; };
  const ir::Function& f = problem_.program();
  const auto computed_by = [&](std::uint32_t source) { return f.root(f.operands_of(f.insts[source])[0].vreg()).value; };
  writes_.build(code_.insts.size(), [&](auto add) {
    for (std::size_t i = 0; i < code_.insts.size(); ++i) {
      const CodeInst& inst = code_.insts[i];
      const auto refs = code_.refs_of(inst);
      switch (inst.kind) {
        case CodeKind::Deleted:
          if (inst.source != kNoSource && f.insts[inst.source].is_repeatable() &&
              problem_.remat_def(computed_by(inst.source)) == inst.source)
            add(i, Write{computed_by(inst.source), kNoTemp, ~ByteMask{0}});
          for (const Ref& r : refs) add(i, Write{r.temp, kNoTemp, code_.bytes_of(r).writes, true});
          break;
        case CodeKind::Remat:
          if (!refs.empty()) add(i, Write{refs[0].temp, computed_by(inst.remat_of), ~ByteMask{0}});
          break;
        case CodeKind::Refill:
          // What another part of a slot holds is not known.
          if (refs.empty()) break;
          add(i, is_whole(inst, refs[0].temp) ? Write{refs[0].temp, slot(inst), ~ByteMask{0}} : Write{refs[0].temp, kNoTemp});
          break;
        case CodeKind::Store:
          add(i, is_whole(inst, refs[0].temp) ? Write{slot(inst), refs[0].temp, ~ByteMask{0}} : Write{slot(inst), kNoTemp});
          break;
        case CodeKind::Original:
        case CodeKind::Move:
          for (std::size_t k = 0; k < refs.size(); ++k)
            if ((refs[k].flags & kWrites) && code_.source_of(inst, k) != refs[k].temp)
              add(i, Write{refs[k].temp, code_.source_of(inst, k),
                           (refs[k].flags & kKillsBytes) != 0 ? code_.bytes_of(refs[k]).writes : ByteMask{0}});
      }
    }
  });
}

void Contents::find_groups() {
  std::vector<TempId> leader(num_places_);
  std::iota(leader.begin(), leader.end(), TempId{0});
  const auto find = [&](TempId t) {
    while (leader[t] != t) t = leader[t] = leader[leader[t]];
    return t;
  };
  for (const CodeBlock& b : code_.blocks) {
    if (!b.is_reachable) continue;
    for (std::uint32_t i = b.first_inst; i < b.first_inst + b.num_insts; ++i)
      for (const Write& w : writes_[i]) {
        if (w.from == kNoTemp) continue;
        const TempId a = find(w.to), c = find(w.from);
        if (a != c) leader[std::max(a, c)] = std::min(a, c);
      }
  }
  std::vector<std::uint32_t> members(num_places_, 0);
  for (TempId t = 0; t < num_places_; ++t) ++members[find(t)];
  group_of_.assign(num_places_, kNoGroup);
  place_.assign(num_places_, 0);
  for (TempId t = 0; t < num_places_; ++t) {
    const TempId first = find(t);
    if (members[first] < 2) continue;
    if (first == t) {
      group_of_[t] = static_cast<std::uint32_t>(groups_.size());
      groups_.emplace_back();
    }
    group_of_[t] = group_of_[first];
    Group& g = groups_[group_of_[t]];
    place_[t] = static_cast<std::uint32_t>(g.members.size());
    g.members.push_back(t);
  }
  std::size_t words = 0, places = 0;
  for (Group& g : groups_) {
    g.begin = words;
    g.first_missing = places;
    places += g.members.size();
    g.row_words = (g.members.size() + 63) / 64;
    words += g.row_words * g.members.size();
    if (words * code_.blocks.size() > kMostWords) break;
  }
  is_known_ = words * code_.blocks.size() <= kMostWords;
}

void Contents::set(State& s, TempId a, TempId b, bool differs) const {
  const std::uint64_t mask = std::uint64_t{1} << place_[b] % 64;
  std::uint64_t& word = row(s, a)[place_[b] / 64];
  word = differs ? word | mask : word & ~mask;
}

void Contents::define(TempId t, State& s) const {
  const Group& g = groups_[group_of_[t]];
  for (const TempId z : g.members) {
    if (z == t) continue;
    const bool differs = (s.reached[z / 64] >> z % 64 & 1) != 0;
    set(s, t, z, differs);
    set(s, z, t, differs);
  }
}

void Contents::copy(TempId to, std::span<const std::uint64_t> from_row, State& s) const {
  const auto to_row = row(s, to);
  std::copy(from_row.begin(), from_row.end(), to_row.begin());
  set(s, to, to, false);
  for (const TempId z : groups_[group_of_[to]].members)
    if (z != to) set(s, z, to, bit(s, to, z));
}

void Contents::pass(std::uint32_t inst, State& s) const {
  if (!has_groups()) return;
  const auto writes = writes_[inst];
  // The sources of a parallel copy are read before anything is written.
  std::vector<std::vector<std::uint64_t>> from(writes.size());
  std::vector<ByteMask> missing(writes.size(), 0);
  for (std::size_t k = 0; k < writes.size(); ++k)
    if (writes[k].from != kNoTemp) {
      const auto r = row(s, writes[k].from);
      from[k].assign(r.begin(), r.end());
      missing[k] = s.missing[missing_at(writes[k].from)];
    }
  for (std::size_t k = 0; k < writes.size(); ++k) {
    const TempId t = writes[k].to;
    if (group_of_[t] == kNoGroup) continue;
    if (writes[k].undefines) {
      s.missing[missing_at(t)] |= writes[k].kills;
      continue;
    }
    if (writes[k].from == kNoTemp) define(t, s);
    else if (writes[k].from != t) copy(t, from[k], s);
    ByteMask& of_t = s.missing[missing_at(t)];
    of_t = (of_t & ~writes[k].kills) | (missing[k] & writes[k].kills);
    s.reached[t / 64] |= std::uint64_t{1} << t % 64;
  }
  // Two defs differ where their sources did.
  for (std::size_t k = 0; k < writes.size(); ++k)
    for (std::size_t m = k + 1; m < writes.size(); ++m) {
      const TempId a = writes[k].to, source_a = writes[k].from;
      const TempId b = writes[m].to, source_b = writes[m].from;
      if (a == b || source_a == kNoTemp || source_b == kNoTemp || group_of_[a] != group_of_[b]) continue;
      const bool differs = (from[k][place_[source_b] / 64] >> place_[source_b] % 64 & 1) != 0;
      set(s, a, b, differs);
      set(s, b, a, differs);
    }
}

void Contents::solve() {
  std::size_t words = 0, places = 0;
  for (const Group& g : groups_) {
    words += g.row_words * g.members.size();
    places += g.members.size();
  }
  State empty;
  empty.differ.assign(words, 0);
  empty.missing.assign(places, 0);
  empty.reached.assign((num_places_ + 63) / 64, 0);
  in_.assign(code_.blocks.size(), empty);
  // Architectural values hold something from the entry on, slots and other values nothing.
  for (const Group& g : groups_)
    for (const TempId t : g.members) {
      const bool is_slot = t >= code_.temps.size();
      const int bytes = is_slot ? 32 : code_.temps[t].bytes;
      in_[0].missing[missing_at(t)] = byte_mask(0, static_cast<std::size_t>(bytes));
    }
  for (TempId t = 0; t < code_.num_values; ++t)
    if (code_.temps[t].fixed.is_valid()) {
      in_[0].reached[t / 64] |= std::uint64_t{1} << t % 64;
      if (group_of_[t] != kNoGroup) in_[0].missing[missing_at(t)] = 0;
    }
  std::deque<std::uint32_t> work;
  std::vector<std::uint8_t> is_waiting(code_.blocks.size(), 0);
  for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
    if (code_.blocks[b].is_reachable) {
      work.push_back(b);
      is_waiting[b] = 1;
    }
  while (!work.empty()) {
    const std::uint32_t b = work.front();
    work.pop_front();
    is_waiting[b] = 0;
    State out = in_[b];
    const CodeBlock& block = code_.blocks[b];
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) pass(i, out);
    for (const std::uint32_t next : code_.successors[b]) {
      State& in = in_[next];
      bool grows = false;
      const auto join = [&](auto& to, const auto& more) {
        for (std::size_t w = 0; w < to.size(); ++w) {
          grows = grows || (more[w] & ~to[w]) != 0;
          to[w] |= more[w];
        }
      };
      join(in.differ, out.differ);
      join(in.reached, out.reached);
      join(in.missing, out.missing);
      if (!grows || is_waiting[next] || !code_.blocks[next].is_reachable) continue;
      work.push_back(next);
      is_waiting[next] = 1;
    }
  }
}

}  // namespace regduel::reference
