// Sets of reaching definitions by strongly connected components. See reaching_sets.h; tested by value_graph_test.cpp and
// memcheck_test.cpp.

#include "oracles/memcheck/reaching_sets.h"

#include <algorithm>
#include <array>
#include <utility>

namespace regduel::oracles {
namespace {

constexpr std::size_t kFew = 32;  // what lists of states begin with: most programs are small

}  // namespace

ReachingSets::ReachingSets(const ValueGraph& graph, const Definitions& defs, DefSets& sets)
    : graph_(graph), defs_(defs), sets_(sets), memory_(nothing_known()) {
  frames_.reserve(kFew);
  component_.reserve(kFew);
  pending_.reserve(kFew);
}

void ReachingSets::distrust(std::uint32_t inst, LeafId own_leaf) {
  own_leaves_.resize(graph_.program().insts.size(), kNone);
  own_leaves_[inst] = own_leaf;
  memory_ = nothing_known();
}

ReachingSets::Memory ReachingSets::nothing_known() const {
  Memory result;
  result.words.resize(graph_.num_nodes());
  result.entries.reserve(kFew);
  return result;
}

std::uint32_t& ReachingSets::entry_of(State s) {
  if (s.under != kNoGuards)
    return memory_.under_entry.at(static_cast<std::uint64_t>(s.under) << 38 | static_cast<std::uint64_t>(s.node) << 6 | s.aspect,
                                  kNone);
  if (s.aspect == kWord) return memory_.words[s.node].entry;
  if (s.aspect >= bit_aspect(0)) return memory_.bit_entry.at(static_cast<std::uint64_t>(s.node) << 8 | s.aspect, kNone);
  if (memory_.byte_entries.empty()) memory_.byte_entries.assign(graph_.num_nodes(), kNone);
  std::uint32_t& first = memory_.byte_entries[s.node];
  if (first == kNone) {
    first = static_cast<std::uint32_t>(memory_.byte_entry.size());
    memory_.byte_entry.resize(memory_.byte_entry.size() + 4, kNone);
  }
  return memory_.byte_entry[first + s.aspect - byte_aspect(0)];
}

SetId ReachingSets::step(State s, std::vector<State>& next) const {
  next.clear();
  const Node n = graph_.node(s.node);
  const bool is_byte = s.aspect >= 1 && s.aspect < 5;
  const bool is_bit = s.aspect >= 5;
  const int byte = is_bit ? static_cast<int>(s.aspect - 5) / 8 : is_byte ? static_cast<int>(s.aspect) - 1 : 0;
  switch (n.kind) {
    case NodeKind::Leaf: return set_of_leaf(n, s.aspect);
    case NodeKind::Via:
      if (own_leaf(n) != kNone) return DefSets::single(element_of(own_leaf(n), byte));
      next.push_back({n.a, s.aspect});
      return kEmptySet;
    case NodeKind::Link: next.push_back({n.a, s.aspect}); return kEmptySet;
    case NodeKind::Phi:
      for (const NodeId arg : graph_.phi_args(n)) next.push_back({arg, s.aspect});
      return kEmptySet;
    case NodeKind::Gated:
      next.push_back({n.a, s.aspect});
      next.push_back({n.b, s.aspect});
      return kEmptySet;
    case NodeKind::Compose: {
      const ByteRef from = graph_.compose_arg(n, byte);
      next.push_back({from.node, is_bit ? bit_aspect((s.aspect - 5) % 8 + 8 * static_cast<std::uint32_t>(from.byte))
                                        : byte_aspect(from.byte)});
      return kEmptySet;
    }
    case NodeKind::Packed:
      if (is_bit) {
        // The last one replaced counts, should a bit stand there twice.
        const auto bits = graph_.packed_bits(n);
        for (auto bit = bits.rbegin(); bit != bits.rend(); ++bit) {
          if (bit->bit != s.aspect - 5) continue;
          next.push_back({bit->predicate.node, byte_aspect(bit->predicate.byte)});
          return kEmptySet;
        }
        next.push_back({n.a, s.aspect});
      } else if (is_byte) {
        for (std::uint32_t bit = 0; bit < 8; ++bit)
          next.push_back({s.node, bit_aspect(static_cast<std::uint32_t>(byte) * 8 + bit)});
      } else {
        return kNoWord;
      }
      return kEmptySet;
    case NodeKind::Extracted:
      next.push_back({n.a, bit_aspect(n.b)});  // a predicate has one byte: its word is that
      return kEmptySet;
    case NodeKind::Incoming:
    case NodeKind::Outgoing:
    case NodeKind::Merged: break;  // resolved when the graph was made, where they were asked for
  }
  return kEmptySet;
}

std::uint32_t ReachingSets::number_of(const Known& a) {
  if (a.predicate == kEmptySet) return kNoAssumption;
  const std::uint64_t what =
      a.node == kNone ? a.predicate : std::uint64_t{1} << 62 | static_cast<std::uint64_t>(a.node) << 6 | a.aspect;
  std::uint32_t& known = assumption_number_.at(what << 1 | (a.value ? 1 : 0), kNone);
  if (known == kNone) {
    known = static_cast<std::uint32_t>(assumptions_.size());
    assumptions_.push_back(a);
  }
  return known;
}

// A step that keeps to an assumption, or makes one at a guarded write.
SetId ReachingSets::step_under(State s, std::vector<State>& next) {
  const SetId own = step({s.node, s.aspect}, next);
  const Node n = graph_.node(s.node);
  const Known assumed = assumptions_[s.under];
  std::uint32_t under = s.under;
  if (n.kind == NodeKind::Gated) {
    const Known holds = memory_.guards[n.c];
    if (under != kNoAssumption && assumed.is_about(holds)) {
      next.erase(next.begin() + (assumed.value == holds.value ? 1 : 0));
    } else if (holds.predicate != kEmptySet) {
      next[0].under = number_of(holds);
      next[1].under = number_of(holds.opposite());
      return own;
    }
  } else if (n.kind == NodeKind::Phi && n.c != kNone && under != kNoAssumption && is_defined_behind(assumed, ir::BlockId(n.c))) {
    under = kNoAssumption;
  }
  for (State& state : next) state.under = under;
  return own;
}

SetId ReachingSets::set_under(ByteRef r, Assumption a) {
  if (memory_.guards.empty())
    for (const GuardRef& guard : graph_.guards())
      memory_.guards.push_back(known_of({predicate_of(guard.node), !guard.negated, guard.node}));
  return set_of({r.node, byte_aspect(r.byte), number_of(known_of(a))});
}

ReachingSets::Known ReachingSets::known_of(Assumption a) {
  if (!graph_.is_sparse() || is_defined_once(a.predicate)) return {a.predicate, a.value};
  if (a.node == kNone) return {};
  const State source = source_of({a.node, byte_aspect(0)});
  return is_leaf_node(source.node) ? Known() : Known{a.predicate, a.value, source.node, source.aspect};
}

bool ReachingSets::is_defined_once(SetId predicate) const {
  const auto only = DefSets::only(predicate);
  if (!only) return false;
  const Leaf& leaf = defs_[leaf_of(*only)];
  if (leaf.kind != LeafKind::Def) return false;
  // Of a word, all bits have the same definition.
  const ir::Function& before = defs_.before();
  const ir::Operand& def = before.operands_of(before.insts[defs_.index_of(leaf.inst)])[static_cast<std::size_t>(leaf.operand)];
  return ir::is_predicate(def.is_vreg() ? before.vreg(def.vreg()).file() : def.preg().file);
}

State ReachingSets::source_of(State s) {
  std::vector<State> next;
  for (s = origin(s); !is_leaf_node(s.node); s = origin(next.front())) {
    (void)step(s, next);
    if (next.size() != 1) break;
  }
  return s;
}

bool is_same_under_guards(const GuardedByte& before, const GuardedByte& after, bool has_undefined) {
  DefSets& sets = after.sets.sets();
  const auto is_within = [&](SetId part, SetId whole) { return sets.unite(part, whole) == whole; };
  return is_within(before.left(), after.all) && (has_undefined || is_within(after.left(), before.all));
}

const Dominators& ReachingSets::dominators() {
  if (!dominators_) dominators_.emplace(graph_.cfg());
  return *dominators_;
}

bool ReachingSets::is_defined_behind(const Known& a, ir::BlockId block) {
  if (a.node == kNone) return is_defined_behind(a.predicate, block);
  const Node source = graph_.node(a.node);
  const bool is_join = source.kind == NodeKind::Phi && source.c != kNone;
  const std::uint32_t at = dominators().position(is_join ? ir::BlockId(source.c) : graph_.block_of(source.inst));
  return dominators().position(block) <= at && at < dominators().end(block);
}

bool ReachingSets::is_defined_behind(SetId predicate, ir::BlockId block) {
  // Where in the dominators' preorder the instructions stand that define it; what is defined at entry has no place.
  std::uint32_t& known = known_predicates_.at(predicate, kNone);
  if (known == kNone) {
    known = static_cast<std::uint32_t>(defined_at_.size());
    std::vector<std::uint32_t>& positions = defined_at_.emplace_back();
    for (const std::uint32_t element : sets_.elements(predicate)) {
      const ir::InstId id = defs_[leaf_of(element)].inst;
      const std::uint32_t inst = id.is_valid() ? graph_.index_of(id) : kNone;
      if (inst != kNone && graph_.is_reachable(inst)) positions.push_back(dominators().position(graph_.block_of(inst)));
    }
    std::sort(positions.begin(), positions.end());
  }
  const std::vector<std::uint32_t>& positions = defined_at_[known];
  const auto first = std::lower_bound(positions.begin(), positions.end(), dominators().position(block));
  return first != positions.end() && *first < dominators().end(block);
}

ReachingSets::Memory::Word& ReachingSets::word(NodeId n) {
  Memory::Word& w = memory_.words[n];
  if (w.origin != kNone) return w;
  const Node node = graph_.node(n);
  const bool passes_on = node.kind == NodeKind::Link || (node.kind == NodeKind::Via && own_leaf(node) == kNone);
  w.origin = passes_on ? node.a : node.kind == NodeKind::Phi && node.b == 1 ? graph_.phi_args(node)[0] : n;
  return w;
}

// It ends: every way back ends at the entry, and a node with one argument has one way back.
NodeId ReachingSets::origin(NodeId n) {
  if (is_leaf_node(n)) return n;
  for (NodeId next = word(n).origin; next != n;) {
    if (is_leaf_node(next)) return next;
    const NodeId behind = word(next).origin;
    memory_.words[n].origin = behind;
    n = std::exchange(next, behind);
  }
  return n;
}

SetId ReachingSets::set_of_leaf(const Node& n, Aspect aspect) const {
  const int byte = aspect >= 5 ? static_cast<int>(aspect - 5) / 8 : aspect >= 1 ? static_cast<int>(aspect) - 1 : 0;
  return DefSets::single(element_of(byte >= defs_[n.a].valid ? n.a + 1 : n.a, byte));
}

// kUnknownSet where the search has not closed the state.
SetId ReachingSets::known(State s) {
  if (s.aspect == kWord && !is_leaf_node(s.node)) return memory_.words[s.node].set;
  if (const Node n = graph_.node(s.node); n.kind == NodeKind::Leaf) return set_of_leaf(n, s.aspect);
  const std::uint32_t entry = entry_of(s);
  return entry != kNone && memory_.entries[entry].low == kNone ? memory_.entries[entry].set : kUnknownSet;
}

// A word of four bytes from different places. No way leads back from a byte to a word, so this ends.
SetId ReachingSets::composed(const Node& n) {
  std::array<SetId, 4> bytes;
  for (int k = 0; k < 4; ++k) bytes[static_cast<std::size_t>(k)] = set_of(graph_.compose_arg(n, k));
  return sets_.word(bytes);
}

SetId ReachingSets::find_set(State root) {
  const auto open = [&](State s) {
    const auto id = static_cast<std::uint32_t>(memory_.entries.size());
    entry_of(s) = id;
    memory_.entries.push_back({.low = id, .word = s.aspect == kWord ? s.node : kNone});
    frames_.push_back({id, pending_.size(), component_.size()});
    component_.push_back(id);
    const Node n = graph_.node(s.node);
    SetId own = kEmptySet;
    if (s.aspect == kWord && n.kind == NodeKind::Compose) {
      own = composed(n);
      next_.clear();
    } else {
      own = s.under == kNoGuards ? step(s, next_) : step_under(s, next_);
    }
    for (auto next = next_.rbegin(); next != next_.rend(); ++next) {  // backwards: the first is visited first
      const State from = origin(*next);
      if (const SetId set = known(from); set != kUnknownSet) own = unite(own, set);
      else pending_.push_back(from);
    }
    memory_.entries[id].set = own;
  };
  // The state `id` depends on the state `from`.
  const auto learn = [&](std::uint32_t id, std::uint32_t from) {
    Entry& e = memory_.entries[id];
    const Entry& other = memory_.entries[from];
    if (other.low == kNone) e.set = unite(e.set, other.set);
    else e.low = std::min(e.low, other.low);
  };
  const std::size_t outer = frames_.size();
  open(root);
  while (frames_.size() > outer) {
    const Frame top = frames_.back();
    if (pending_.size() > top.pending) {
      const State child = pending_.back();
      pending_.pop_back();
      if (const std::uint32_t visited = entry_of(child); visited != kNone) learn(top.entry, visited);
      else open(child);
      continue;
    }
    frames_.pop_back();
    if (memory_.entries[top.entry].low == top.entry) {
      const auto members = std::span(component_).subspan(top.component);
      parts_.clear();
      for (const std::uint32_t id : members) parts_.push_back(memory_.entries[id].set);
      const bool is_word = std::find(parts_.begin(), parts_.end(), kNoWord) == parts_.end();
      const SetId all = is_word ? sets_.unite_all(parts_) : kNoWord;
      for (const std::uint32_t id : members) {
        Entry& e = memory_.entries[id];
        e.low = kNone;
        e.set = all;
        if (e.word != kNone) memory_.words[e.word].set = all;
      }
      component_.resize(top.component);
    }
    if (frames_.size() > outer) learn(frames_.back().entry, top.entry);
  }
  return known(root);
}

}  // namespace regduel::oracles
