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
// word: kNoWord. Where the sets of two words are equal, so are those of their bytes. Chains of moves are gone through once and
// remembered by their ends (`origin`), so only what merges or takes apart is a state of the search.
//
// S under one assumption (set_under) is the least solution of the same equations over pairs of a state and an assumption about a
// predicate:
//
//   S(gated, p = x)  = S(new, p = x) or S(old, p = x), whichever x chooses, where p is its guard
//                    = S(new, its guard holds) + S(old, its guard does not hold) else
//   S(phi, p = x)    = union of S(argument), where p is defined at the phi's block or behind it, else of S(argument, p = x)
//
// `Walk` answers the same question path by path, as far as guards go: an instruction under @p sees of a write under @p only the new
// value, and several assumptions may hold at once. It is slower and asked only where the sets under one assumption differ too. Two
// guards count as one value where their sets are equal, and an assumption is dropped where the walk goes back through a phi at
// whose block, or behind it, the predicate is defined: what lies before was written under another visit's predicate. The judge
// takes a walk's answer only to *excuse* a difference of sets, so a guard that it takes for another can hide a fault but never
// raises an alarm.
//
// Tested by reaching_test.cpp and memcheck_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "oracles/memcheck/def_sets.h"
#include "oracles/memcheck/reaching.h"
#include "oracles/memcheck/reaching_dominators.h"

namespace regduel::oracles {

inline constexpr SetId kNoWord = 0xFFFFFFFFu, kUnknownSet = 0xFFFFFFFEu;

// What is asked of a node: 0 the word, 1 to 4 byte 0 to 3, 5 to 36 bit 0 to 31.
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
};

class ReachSets {
 public:
  ReachSets(const ReachGraph& graph, const Definitions& defs, DefSets& sets);

  [[nodiscard]] SetId set_of(State s);
  [[nodiscard]] SetId set_of(ByteRef r) { return set_of(State{r.node, byte_aspect(r.byte)}); }
  // The same as far as one assumption goes: that of the last guard on the way back.
  [[nodiscard]] SetId set_under(ByteRef r, Assumption a);
  // The definitions of a guard's predicate.
  [[nodiscard]] SetId predicate_of(NodeId guard) { return set_of(State{guard, byte_aspect(0)}); }
  // True where an instruction that defines the predicate stands in a block that `block` dominates, or in itself.
  [[nodiscard]] bool is_defined_behind(SetId predicate, ir::BlockId block);
  // From now on the result of this instruction (a remat) is a definition of its own. Forgets all sets.
  void distrust(std::uint32_t inst, LeafId own_leaf);

  [[nodiscard]] const ReachGraph& graph() const { return graph_; }
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
  struct Frame {
    std::uint32_t entry;
    std::size_t pending, component;  // where what belongs to it, and to what was opened after it, begins in these
  };
  [[nodiscard]] std::uint32_t& entry_of(State s);
  // What sets are known so far. It is forgotten as a whole.
  struct Memory {
    // All that is asked of most nodes, side by side.
    struct Word {
      NodeId origin = kNone;        // one that is nearer to where its content comes from, or the node itself; kNone = never asked
      SetId set = kUnknownSet;      // of an origin
      std::uint32_t entry = kNone;  // kNone = never asked
    };
    std::vector<Word> words;                  // by node
    std::vector<std::uint32_t> byte_entries;  // by node: where its four stand in byte_entry; kNone = none asked for
    std::vector<std::uint32_t> byte_entry;
    FlatMap bit_entry{256};
    FlatMap under_entry{256};
    std::vector<Entry> entries;
    std::vector<SetId> predicates;  // by guard of the graph, once they are asked for
  };
  // The own leaf of a remat that is not trusted, else kNone.
  [[nodiscard]] LeafId own_leaf(const Node& via) const { return own_leaves_.empty() ? kNone : own_leaves_[via.inst]; }
  [[nodiscard]] Memory nothing_known() const;
  [[nodiscard]] Memory::Word& word(NodeId n);  // with its origin
  [[nodiscard]] NodeId origin(NodeId n);       // the first node on the way back that does more than pass a value on
  [[nodiscard]] SetId composed(const Node& n);
  [[nodiscard]] SetId known(State origin);
  [[nodiscard]] State origin(State s) { return {origin(s.node), s.aspect, s.under}; }
  [[nodiscard]] std::uint32_t number_of(Assumption a);
  [[nodiscard]] SetId step_under(State s, std::vector<State>& next);
  [[nodiscard]] SetId set_of_leaf(const Node& leaf, Aspect aspect) const;
  [[nodiscard]] SetId unite(SetId a, SetId b) { return a == kNoWord || b == kNoWord ? kNoWord : sets_.unite(a, b); }

  const ReachGraph& graph_;
  const Definitions& defs_;
  DefSets& sets_;
  std::vector<LeafId> own_leaves_;  // by instruction; empty where all are trusted
  Memory memory_;
  // Assumptions.
  std::vector<Assumption> assumptions_{{}, {}};  // by number
  FlatMap assumption_number_{64};
  std::optional<Dominators> dominators_;  // once they are asked for
  FlatMap known_predicates_{64};
  std::vector<std::vector<std::uint32_t>> defined_at_;  // of a known predicate: positions of the blocks that define it, ascending
  // The search: empty between two, kept to be used again.
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> component_;
  std::vector<State> pending_;  // still to be visited, of all open frames
  std::vector<State> next_;     // of one step
  std::vector<SetId> parts_;    // of the component at hand
};

class Walk {
 public:
  explicit Walk(ReachSets& sets);

  struct Visit {
    State state;
    SetId own = kEmptySet;  // one element where a leaf was reached
  };
  // All states that can be reached from `from` under `assumed`, `from` first. Where elements are `sought`, only the states on the
  // way to one of them: those whose sets have one. nullopt where there are more than `budget`.
  [[nodiscard]] std::optional<std::vector<Visit>> states(State from, Assumption assumed, SetId sought = kEmptySet,
                                                         std::size_t budget = 200'000);
  // The assumption under which an instruction runs whose guard operand (an index into operands) is this.
  [[nodiscard]] Assumption assumption_of(std::size_t guard_operand);

 private:
  [[nodiscard]] std::uint32_t with(std::uint32_t context, Assumption a);
  [[nodiscard]] std::uint32_t across(std::uint32_t context, ir::BlockId phi_block);

  static constexpr std::size_t kMaxAssumptions = 6;  // of one context; the oldest is dropped
  ReachSets& sets_;
  std::vector<std::vector<std::pair<SetId, bool>>> contexts_;
};

}  // namespace regduel::oracles
