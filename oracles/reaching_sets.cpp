// Sets of reaching definitions by strongly connected components. See reaching_sets.h; tested by memcheck_test.cpp.

#include "oracles/reaching_sets.h"

#include <algorithm>

namespace regduel::oracles {

ReachSets::ReachSets(const ReachGraph& graph, const Definitions& defs, DefSets& sets)
    : graph_(graph), defs_(defs), sets_(sets), word_entry_(graph.num_nodes(), kNone) {}

void ReachSets::distrust(std::uint32_t inst, LeafId own_leaf) {
  distrusted_.emplace_back(inst, own_leaf);
  std::sort(distrusted_.begin(), distrusted_.end());
  word_entry_.assign(graph_.num_nodes(), kNone);
  other_entry_ = FlatMap(256);
  entries_.clear();
}

std::uint32_t& ReachSets::entry_of(State s) {
  if (s.aspect == kWord) return word_entry_[s.node];
  return other_entry_.at(static_cast<std::uint64_t>(s.node) << 8 | s.aspect, kNone);
}

void ReachSets::step(State s, Step& out) const {
  out.next.clear();
  out.element.reset();
  out.no_word = false;
  const Node& n = graph_.node(s.node);
  const bool is_byte = s.aspect >= 1 && s.aspect < 5;
  const bool is_bit = s.aspect >= 5;
  const int byte = is_bit ? static_cast<int>(s.aspect - 5) / 8 : is_byte ? static_cast<int>(s.aspect) - 1 : 0;
  switch (n.kind) {
    case NodeKind::Leaf: {
      const bool above = byte >= defs_[n.a].valid;
      out.element = element_of(above ? n.a + 1 : n.a, byte);
      return;
    }
    case NodeKind::Via: {
      if (!distrusted_.empty()) {
        const auto found = std::lower_bound(distrusted_.begin(), distrusted_.end(), std::pair(n.inst, 0u));
        if (found != distrusted_.end() && found->first == n.inst) {
          out.element = element_of(found->second, byte);
          return;
        }
      }
      out.next.push_back({n.a, s.aspect});
      return;
    }
    case NodeKind::Phi:
      for (const NodeId arg : graph_.phi_args(n)) out.next.push_back({arg, s.aspect});
      return;
    case NodeKind::Gated:
      out.next.push_back({n.a, s.aspect});
      out.next.push_back({n.b, s.aspect});
      return;
    case NodeKind::Compose: {
      if (s.aspect == kWord) {
        out.no_word = true;
        return;
      }
      const ByteRef from = graph_.compose_arg(n, byte);
      out.next.push_back({from.node, is_bit ? bit_aspect((s.aspect - 5) % 8 + 8 * static_cast<std::uint32_t>(from.byte)) : byte_aspect(from.byte)});
      return;
    }
    case NodeKind::Packed:
      if (is_bit) {
        // The last one replaced counts, should a bit stand there twice.
        const auto bits = graph_.packed_bits(n);
        for (auto bit = bits.rbegin(); bit != bits.rend(); ++bit) {
          if (bit->bit != s.aspect - 5) continue;
          out.next.push_back({bit->predicate.node, byte_aspect(bit->predicate.byte)});
          return;
        }
        out.next.push_back({n.a, s.aspect});
      } else if (is_byte) {
        for (std::uint32_t bit = 0; bit < 8; ++bit) out.next.push_back({s.node, bit_aspect(static_cast<std::uint32_t>(byte) * 8 + bit)});
      } else {
        out.no_word = true;
      }
      return;
    case NodeKind::Extracted:
      if (s.aspect == kWord) out.no_word = true;
      else out.next.push_back({n.a, bit_aspect(n.b)});
      return;
    case NodeKind::Incoming:
    case NodeKind::Outgoing: return;  // resolved when the graph was made
  }
}

SetId ReachSets::set_of(State root) {
  if (const std::uint32_t known = entry_of(root); known != kNone) return entries_[known].set;
  std::vector<Frame> frames;
  std::vector<std::uint32_t> component;
  Step one;
  std::vector<State> pending;  // the states that the open frames still have to visit
  const auto open = [&](State s) {
    const auto id = static_cast<std::uint32_t>(entries_.size());
    entry_of(s) = id;
    Entry e;
    e.index = e.low = id;
    step(s, one);
    if (one.element) e.set = sets_.single(*one.element);
    if (one.no_word) e.set = kNoWord;
    entries_.push_back(e);
    component.push_back(id);
    frames.push_back({id, static_cast<std::uint32_t>(pending.size()), static_cast<std::uint32_t>(pending.size())});
    pending.insert(pending.end(), one.next.begin(), one.next.end());
    return id;
  };
  const std::uint32_t first = open(root);
  while (!frames.empty()) {
    Frame& top = frames.back();
    if (top.next < pending.size()) {
      const State child = pending[top.next++];
      const std::uint32_t known = entry_of(child);
      if (known == kNone) {
        open(child);
        continue;
      }
      Entry& e = entries_[top.entry];
      if (entries_[known].done) e.set = unite(e.set, entries_[known].set);
      else e.low = std::min(e.low, entries_[known].index);
      continue;
    }
    const std::uint32_t id = top.entry;
    pending.resize(top.begin);
    frames.pop_back();
    if (entries_[id].low == entries_[id].index) {
      std::size_t begin = component.size();
      SetId all = kEmptySet;
      do {
        --begin;
        all = unite(all, entries_[component[begin]].set);
      } while (component[begin] != id);
      for (std::size_t k = begin; k < component.size(); ++k) {
        entries_[component[k]].set = all;
        entries_[component[k]].done = true;
      }
      component.resize(begin);
    }
    if (frames.empty()) break;
    Entry& parent = entries_[frames.back().entry];
    if (entries_[id].done) parent.set = unite(parent.set, entries_[id].set);
    else parent.low = std::min(parent.low, entries_[id].low);
  }
  return entries_[first].set;
}

}  // namespace regduel::oracles
