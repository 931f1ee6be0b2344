// The set of definitions that each byte of a graph of values may come from.
//
//   S(leaf)       = { leaf }                       S(phi)      = union of S(argument)
//   S(via)        = S(source)                      S(gated)    = S(new) + S(old)
//   S(compose, k) = S(source of byte k)            S(extracted from p, bit k) = S(p, bit k)
//   S(packed, bit k) = S(predicate) where bit k was replaced, else S(pack before, bit k)
//   S(packed, byte k) = union of S(packed, bit) over its eight bits
//   S(compose, word) = { the four S(compose, byte k), as one element }
//
// The least solution, by strongly connected components (Tarjan 1972, iterative), on demand, each state once: near-linear. A state
// is a node with what is asked of it: the node as a word (for the fast check), byte k, or bit k of a pack. A pack has no set as a
// word: kNoWord. Two shortcuts:
//
//   words      S(x, word) = S(y, word)  implies  S(x, byte k) = S(y, byte k) for each k: one comparison instead of four
//   origins    S(n, aspect) = S(origin(n), aspect), where origin(n) is the first node behind links, vias and phis of one argument:
//              chains of moves are gone through once, and only what merges or takes apart is a state of the search
//
// S under one assumption (set_under) is the least solution of the same equations over pairs of a state and an assumption about a
// predicate:
//
//   S(gated, p = x)  = the one of S(new, p = x) and S(old, p = x) that x selects, where p is its guard
//                    = S(new, its guard holds) + S(old, its guard does not hold) else
//   S(phi, p = x)    = union of S(argument), where p is defined at the phi's block or behind it, else of S(argument, p = x)
//
// A sparse graph does not show every join that a value has come through, and definitions alone do not tell two predicates apart
// that change places in a loop. So in it a predicate p is known by d: its one definition, or where it has several the state that it
// comes from, the first behind all steps that lead to one state only. "Defined at the phi's block or behind it" is then said of d.
//
//   S(gated, p = x)  = S(new, p = x) + S(old, p = x) under any other guard
//
// No precision is lost. Let a value come from w, where d alone is read, to u, without a phi in between. d dominates w, and through
// each link and move w dominates u. If d were executed between the two, the path to the first d, before any w, and on from the last
// d would lead to u past w.
//
// Tested by value_graph_test.cpp and memcheck_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "oracles/memcheck/def_sets.h"
#include "oracles/memcheck/dominators.h"
#include "oracles/memcheck/value_graph.h"

namespace regduel::oracles {

inline constexpr SetId kNoWord = 0xFFFFFFFFu, kUnknownSet = 0xFFFFFFFEu;

// The aspect of a node: 0 the word, 1 to 4 byte 0 to 3, 5 to 36 bit 0 to 31.
using Aspect = std::uint32_t;
inline constexpr Aspect kWord = 0;
[[nodiscard]] constexpr Aspect byte_aspect(int k) { return 1 + static_cast<Aspect>(k); }
[[nodiscard]] constexpr Aspect bit_aspect(std::uint32_t k) { return 5 + k; }

struct State {
  NodeId node = 0;
  Aspect aspect = kWord;
  std::uint32_t under = 0;  // kNoGuards, kNoAssumption, or the number of an assumption
};
inline constexpr std::uint32_t kNoGuards = 0, kNoAssumption = 1;

// The predicate value under which an instruction runs: the definitions of its guard, and whether it holds.
struct Assumption {
  SetId predicate = kEmptySet;  // empty = no assumption
  bool value = false;
  NodeId node = kNone;  // what holds the predicate; kNone = not known

  friend bool operator==(const Assumption&, const Assumption&) = default;
};

class ReachingSets {
 public:
  ReachingSets(const ValueGraph& graph, const Definitions& defs, DefSets& sets);

  [[nodiscard]] SetId set_of(State s) {
    if (is_leaf_node(s.node)) return set_of_leaf(graph_.node(s.node), s.aspect);
    const State root = origin(s);
    const SetId set = known(root);
    return set != kUnknownSet ? set : find_set(root);
  }
  [[nodiscard]] SetId set_of(ByteRef r) { return set_of(State{r.node, byte_aspect(r.byte)}); }
  // The set under one assumption at a time: that of the last guard on the way back.
  [[nodiscard]] SetId set_under(ByteRef r, Assumption a);
  // The definitions of a guard's predicate.
  [[nodiscard]] SetId predicate_of(NodeId guard) { return set_of(State{guard, byte_aspect(0)}); }
  // True where an instruction that defines the predicate stands in a block that `block` dominates, or in itself.
  [[nodiscard]] bool is_defined_behind(SetId predicate, ir::BlockId block);
  // From now on the result of this instruction (a remat) is a definition of its own. Forgets all sets.
  void distrust(std::uint32_t inst, LeafId own_leaf);

  [[nodiscard]] const ValueGraph& graph() const { return graph_; }
  [[nodiscard]] const Definitions& defs() const { return defs_; }
  [[nodiscard]] DefSets& sets() { return sets_; }

  // One step from a state: `next` become the states that it is the union of; returned is what it contributes itself, one element at
  // most, or kNoWord. Requires: s.under == kNoGuards; a word is not put together from bytes.
  [[nodiscard]] SetId step(State s, std::vector<State>& next) const;

 private:
  struct Entry {
    std::uint32_t low = 0;  // kNone once the set is known
    SetId set = kEmptySet;
    NodeId word = kNone;  // of which this is the set
  };
  // An assumption as this graph knows its predicate.
  struct Known {
    SetId predicate = kEmptySet;  // empty = nothing is assumed
    bool value = false;
    // In a sparse graph, of a predicate with several definitions: the state that it comes from.
    NodeId node = kNone;
    Aspect aspect = kWord;

    [[nodiscard]] bool is_about(const Known& o) const { return predicate == o.predicate && node == o.node && aspect == o.aspect; }
    [[nodiscard]] Known opposite() const { return {predicate, !value, node, aspect}; }
  };
  struct Frame {
    std::uint32_t entry;
    std::size_t pending, component;  // where what belongs to it, and to what was opened after it, begins in these
  };
  [[nodiscard]] std::uint32_t& entry_of(State s);
  // The sets that are known so far. They are forgotten all at once.
  struct Memory {
    // What is asked of most nodes, side by side.
    struct Word {
      NodeId origin = kNone;        // its origin, or a node on the way there; kNone = never asked
      SetId set = kUnknownSet;      // known of an origin
      std::uint32_t entry = kNone;  // kNone = never asked
    };
    std::vector<Word> words;                  // by node
    std::vector<std::uint32_t> byte_entries;  // by node: where its four stand in byte_entry; kNone = none asked for
    std::vector<std::uint32_t> byte_entry;
    FlatMap bit_entry;
    FlatMap under_entry;
    std::vector<Entry> entries;
    std::vector<Known> guards;  // by guard of the graph, once they are asked for: that it holds
  };
  // The own leaf of a remat that is not trusted, else kNone.
  [[nodiscard]] LeafId own_leaf(const Node& via) const { return own_leaves_.empty() ? kNone : own_leaves_[via.inst]; }
  [[nodiscard]] Memory nothing_known() const;
  [[nodiscard]] Memory::Word& word(NodeId n);  // with its origin
  [[nodiscard]] SetId find_set(State root);    // Requires: an origin, not yet known
  [[nodiscard]] NodeId origin(NodeId n);
  [[nodiscard]] SetId composed(const Node& n);
  [[nodiscard]] SetId known(State origin);
  [[nodiscard]] State origin(State s) { return {origin(s.node), s.aspect, s.under}; }
  [[nodiscard]] Known known_of(Assumption a);
  [[nodiscard]] bool is_defined_once(SetId predicate) const;
  // The first state behind this one from which more than one way leads on, or none.
  [[nodiscard]] State source_of(State s);
  [[nodiscard]] bool is_defined_behind(const Known& a, ir::BlockId block);
  [[nodiscard]] const Dominators& dominators();
  [[nodiscard]] std::uint32_t number_of(const Known& a);
  [[nodiscard]] SetId step_under(State s, std::vector<State>& next);
  [[nodiscard]] SetId set_of_leaf(const Node& leaf, Aspect aspect) const;
  [[nodiscard]] SetId unite(SetId a, SetId b) { return a == kNoWord || b == kNoWord ? kNoWord : sets_.unite(a, b); }

  const ValueGraph& graph_;
  const Definitions& defs_;
  DefSets& sets_;
  std::vector<LeafId> own_leaves_;  // by instruction; empty where all are trusted
  Memory memory_;
  // Assumptions.
  std::vector<Known> assumptions_{{}, {}};  // by number
  FlatMap assumption_number_;
  std::optional<Dominators> dominators_;  // once they are asked for
  FlatMap known_predicates_;
  std::vector<std::vector<std::uint32_t>> defined_at_;  // of a known predicate: positions of the blocks that define it, ascending
  // The search: empty between two, kept to be used again.
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> component_;
  std::vector<State> pending_;  // still to be visited, of all open frames
  std::vector<State> next_;     // of one step
  std::vector<SetId> parts_;    // of the component at hand
};

// A byte that is read under an assumption, and its set without it. No byte: the set is what it is.
struct GuardedByte {
  ReachingSets& sets;
  std::optional<ByteRef> byte;
  SetId all = kEmptySet;
  Assumption assumed;

  [[nodiscard]] SetId left() const { return byte ? sets.set_under(*byte, assumed) : all; }
};
// True if, under one assumption at a time, the set before is within the set after, and the other way round unless the set before
// has an undefined element. Then walks with all assumptions (guarded_walk.h) would find no difference either. This is the common
// case of a guarded program, and costs no more than sets do.
[[nodiscard]] bool is_same_under_guards(const GuardedByte& before, const GuardedByte& after, bool has_undefined);

}  // namespace regduel::oracles
