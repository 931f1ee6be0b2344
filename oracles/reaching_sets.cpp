// Sets of reaching definitions by strongly connected components. See reaching_sets.h; tested by memcheck_test.cpp.

#include "oracles/reaching_sets.h"

#include <algorithm>

namespace regduel::oracles {

ReachSets::ReachSets(const ReachGraph& graph, const Definitions& defs, DefSets& sets)
    : graph_(graph), defs_(defs), sets_(sets), word_entry_(graph.num_nodes(), kNone), origin_(graph.num_nodes(), kNone) {}

void ReachSets::distrust(std::uint32_t inst, LeafId own_leaf) {
  distrusted_.emplace_back(inst, own_leaf);
  std::sort(distrusted_.begin(), distrusted_.end());
  word_entry_.assign(graph_.num_nodes(), kNone);
  origin_.assign(graph_.num_nodes(), kNone);
  byte_entries_.clear();
  byte_entry_.clear();
  bit_entry_ = FlatMap(256);
  under_entry_ = FlatMap(256);
  predicates_.clear();
  entries_.clear();
}

std::uint32_t& ReachSets::entry_of(State s) {
  if (s.under != kNoGuards)
    return under_entry_.at(static_cast<std::uint64_t>(s.under) << 38 | static_cast<std::uint64_t>(s.node) << 6 | s.aspect, kNone);
  if (s.aspect == kWord) return word_entry_[s.node];
  if (s.aspect >= bit_aspect(0)) return bit_entry_.at(static_cast<std::uint64_t>(s.node) << 8 | s.aspect, kNone);
  if (byte_entries_.empty()) byte_entries_.assign(graph_.num_nodes(), kNone);
  std::uint32_t& first = byte_entries_[s.node];
  if (first == kNone) {
    first = static_cast<std::uint32_t>(byte_entry_.size());
    byte_entry_.resize(byte_entry_.size() + 4, kNone);
  }
  return byte_entry_[first + s.aspect - byte_aspect(0)];
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
      out.element = element_of(byte >= defs_[n.a].valid ? n.a + 1 : n.a, byte);
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
    case NodeKind::Link: out.next.push_back({n.a, s.aspect}); return;
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
      out.next.push_back({n.a, bit_aspect(n.b)});  // a predicate has one byte: its word is that
      return;
    case NodeKind::Incoming:
    case NodeKind::Outgoing:
    case NodeKind::Merged: return;  // resolved when the graph was made
  }
}

std::uint32_t ReachSets::number_of(Assumption a) {
  if (a.predicate == kEmptySet) return kNoAssumption;
  std::uint32_t& known = assumption_number_.at(static_cast<std::uint64_t>(a.predicate) << 1 | (a.value ? 1 : 0), kNone);
  if (known == kNone) {
    known = static_cast<std::uint32_t>(assumptions_.size());
    assumptions_.push_back(a);
  }
  return known;
}

// A step that keeps to an assumption, or makes one at a guarded write.
void ReachSets::step_under(State s, Step& out) {
  step({s.node, s.aspect}, out);
  const Node& n = graph_.node(s.node);
  const Assumption assumed = assumptions_[s.under];
  std::uint32_t under = s.under;
  if (n.kind == NodeKind::Gated) {
    const bool negated = graph_.guard(n).negated;
    const SetId predicate = predicates_[n.c];
    if (under == kNoAssumption || assumed.predicate != predicate) {
      out.next[0].under = number_of({predicate, !negated});
      out.next[1].under = number_of({predicate, negated});
      return;
    }
    out.next.erase(out.next.begin() + (assumed.value != negated ? 1 : 0));
  } else if (n.kind == NodeKind::Phi && n.c != kNone && under != kNoAssumption && is_defined_behind(assumed.predicate, ir::BlockId(n.c))) {
    under = kNoAssumption;
  }
  for (State& next : out.next) next.under = under;
}

SetId ReachSets::set_under(ByteRef r, Assumption a) {
  if (predicates_.empty())
    for (const GuardRef& guard : graph_.guards()) predicates_.push_back(predicate_of(guard.node));
  return set_of({r.node, byte_aspect(r.byte), number_of(a)});
}

bool ReachSets::is_defined_behind(SetId predicate, ir::BlockId block) {
  if (!dominators_) dominators_.emplace(graph_.cfg());
  // Where in the dominators' preorder the instructions stand that define it; what is defined at entry has no place.
  std::uint32_t& known = known_predicates_.at(predicate, kNone);
  if (known == kNone) {
    known = static_cast<std::uint32_t>(defined_at_.size());
    std::vector<std::uint32_t>& positions = defined_at_.emplace_back();
    for (const std::uint32_t element : sets_.elements(predicate)) {
      const ir::InstId id = defs_[leaf_of(element)].inst;
      const std::uint32_t inst = id.is_valid() ? graph_.index_of(id) : kNone;
      if (inst != kNone && graph_.is_reachable(inst)) positions.push_back(dominators_->position(graph_.block_of(inst)));
    }
    std::sort(positions.begin(), positions.end());
  }
  const std::vector<std::uint32_t>& positions = defined_at_[known];
  const auto first = std::lower_bound(positions.begin(), positions.end(), dominators_->position(block));
  return first != positions.end() && *first < dominators_->end(block);
}

bool ReachSets::is_distrusted(const Node& n) const {
  if (distrusted_.empty()) return false;
  const auto found = std::lower_bound(distrusted_.begin(), distrusted_.end(), std::pair(n.inst, 0u));
  return found != distrusted_.end() && found->first == n.inst;
}

// The first node on the way back that does more than pass a value on. Every way back ends at the entry, and what has one argument has one
// way, so this does not go in circles.
NodeId ReachSets::origin(NodeId from) {
  NodeId at = from;
  for (;;) {
    if (origin_[at] != kNone) {
      at = origin_[at];
      break;
    }
    const Node& n = graph_.node(at);
    if (n.kind == NodeKind::Link || (n.kind == NodeKind::Via && !is_distrusted(n))) at = n.a;
    else if (n.kind == NodeKind::Phi && n.b == 1) at = graph_.phi_args(n)[0];
    else break;
  }
  while (from != at && origin_[from] == kNone) {
    origin_[from] = at;
    const Node& n = graph_.node(from);
    from = n.kind == NodeKind::Phi ? graph_.phi_args(n)[0] : n.a;
  }
  return at;
}

SetId ReachSets::set_of_leaf(const Node& n, Aspect aspect) const {
  const int byte = aspect >= 5 ? static_cast<int>(aspect - 5) / 8 : aspect >= 1 ? static_cast<int>(aspect) - 1 : 0;
  return DefSets::single(element_of(byte >= defs_[n.a].valid ? n.a + 1 : n.a, byte));
}

// Neighbours first, in ascending order: far fewer sets on the way than one after another.
SetId ReachSets::unite_parts() {
  if (parts_.size() > 1) {
    std::sort(parts_.begin(), parts_.end());
    parts_.erase(std::unique(parts_.begin(), parts_.end()), parts_.end());
  }
  for (std::size_t size = parts_.size(); size > 1; size = (size + 1) / 2)
    for (std::size_t k = 0; k < size; k += 2) parts_[k / 2] = k + 1 < size ? unite(parts_[k], parts_[k + 1]) : parts_[k];
  return parts_[0];
}

SetId ReachSets::set_of(State root) {
  root = origin(root);
  if (const Node& n = graph_.node(root.node); n.kind == NodeKind::Leaf) return set_of_leaf(n, root.aspect);
  if (const std::uint32_t known = entry_of(root); known != kNone) return entries_[known].set;
  frames_.clear();
  component_.clear();
  pending_.clear();
  const auto open = [&](State s) {
    const auto id = static_cast<std::uint32_t>(entries_.size());
    entry_of(s) = id;
    Entry e;
    e.index = e.low = id;
    if (s.under == kNoGuards) step(s, one_);
    else step_under(s, one_);
    if (one_.element) e.set = DefSets::single(*one_.element);
    if (one_.no_word) e.set = kNoWord;
    component_.push_back(id);
    const auto begin = static_cast<std::uint32_t>(pending_.size());
    for (const State& next : one_.next) {
      const State from = origin(next);
      if (const Node& n = graph_.node(from.node); n.kind == NodeKind::Leaf) e.set = unite(e.set, set_of_leaf(n, from.aspect));
      else pending_.push_back(from);
    }
    entries_.push_back(e);
    frames_.push_back({id, begin, begin});
    return id;
  };
  const std::uint32_t first = open(root);
  while (!frames_.empty()) {
    Frame& top = frames_.back();
    if (top.next < pending_.size()) {
      const State child = pending_[top.next++];
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
    pending_.resize(top.begin);
    frames_.pop_back();
    if (entries_[id].low == entries_[id].index) {
      std::size_t begin = component_.size();
      parts_.clear();
      do {
        --begin;
        parts_.push_back(entries_[component_[begin]].set);
      } while (component_[begin] != id);
      const SetId all = unite_parts();
      for (std::size_t k = begin; k < component_.size(); ++k) {
        entries_[component_[k]].set = all;
        entries_[component_[k]].done = true;
      }
      component_.resize(begin);
    }
    if (frames_.empty()) break;
    Entry& parent = entries_[frames_.back().entry];
    if (entries_[id].done) parent.set = unite(parent.set, entries_[id].set);
    else parent.low = std::min(parent.low, entries_[id].low);
  }
  return entries_[first].set;
}

}  // namespace regduel::oracles
