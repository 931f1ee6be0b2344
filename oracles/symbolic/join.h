// The abstract state at the head of a block, and the meet over the edges that lead there. Tested by symbolic_join_test.cpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "oracles/symbolic/pairs.h"
#include "oracles/symbolic/plan.h"
#include "oracles/symbolic/state.h"

namespace regduel::oracles::symbolic {

// Only what is live is kept.
struct Entry {
  bool is_reached = false;
  std::vector<Value> names;  // of the plan's live names at the block, in their order
  struct Held {
    std::uint32_t location = 0;
    Value value = kJunk;

    friend bool operator==(const Held&, const Held&) = default;
  };
  std::vector<Held> locations;  // live ones that hold something

  friend bool operator==(const Entry&, const Entry&) = default;
};

class Joiner {
 public:
  explicit Joiner(Plan& plan);

  // entry := entry meet state (of which the edge has been entered). True if it changed. A block with one edge into it takes the
  // state as it is. Cost: live names + live locations; for each name that is undefined on one side only, what a search of PairList
  // costs.
  [[nodiscard]] bool flow_into(Entry& entry, std::uint32_t block, const State& state);
  // state := entry. Requires: state is clear.
  void load(const Entry& entry, std::uint32_t block, State& state) const;

 private:
  // Two values, one a side, that a place holds. The number of the pair after the meet: the same pair, the same number.
  enum class Mode : std::uint8_t { Number, NumberLoose, Find };  // Find: Junk where no name asked for the pair
  [[nodiscard]] Value meet(Value a, Value b, Mode mode, bool is_word);
  [[nodiscard]] Value meet_words(Value a, Value b, Mode mode);
  [[nodiscard]] Value meet_byte(Value a, Value b, Mode mode);  // or bit
  [[nodiscard]] Value known(Value a, Value b);                 // Junk where the pair has no number
  [[nodiscard]] bool is_unknown_byte(Value a, Value b);
  struct Pieces {
    bool are_one = false;  // piece `at` of a and of b
    Value a = kJunk, b = kJunk;
    std::uint32_t at = 0;
  };
  [[nodiscard]] Pieces pieces_of(Value a, Value b, ValueKind kind) const;
  void remember_split(Value a, Value b, Value v);
  [[nodiscard]] std::uint32_t& split(Value word) { return by_value(splits_, word); }
  [[nodiscard]] bool is_split(Value word) { return split(word) == now_.epoch; }
  [[nodiscard]] Value number(Value a, Mode mode);
  void remember(Value a, Value b, Value v);
  [[nodiscard]] std::uint32_t& by_value(std::vector<std::uint32_t>& v, Value at);
  static std::uint64_t key_of(Value a, Value b) { return static_cast<std::uint64_t>(a) << 32 | b; }

  void meet_all(const Entry& entry, const State& state);
  void find_candidates(const Entry& entry, const State& state, bool any_loose);
  [[nodiscard]] Value meet_loose_byte(Value a, Value b);
  [[nodiscard]] Value meet_loose_word(Value a, Value b, unsigned bytes);
  [[nodiscard]] bool holds(Value have_a, Value have_b, Value want_a, Value want_b, unsigned bytes);
  void find_constants(Value a, Value b, unsigned bytes, std::vector<Value>& members);
  void list_pairs(bool with_bytes_of_words);
  void list_byte(Value x, Value y);
  void find(const PairList& in, Value a, Value b, unsigned bytes, bool are_words, std::vector<Value>& members);

  Plan& plan_;
  Values& values_;
  struct Now {
    std::uint32_t epoch = 0, block = 0;
    bool is_first = false;  // nothing has come into the block yet
    std::size_t pairs = 0;  // in slots_
  };
  Now now_;                            // the meet that is going on
  std::vector<std::uint32_t> taken_;   // by value: the epoch in which a pair kept it as its number
  std::vector<std::uint32_t> splits_;  // by word: the epoch in which one of its bytes was numbered by itself, in a pair on the left
  // Pairs of this meet: open addressing, cleared by epoch.
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t epoch = 0;
    Value value = kJunk;
  };
  std::vector<Slot> slots_;
  Slot& slot(std::uint64_t key);
  void grow();

  Value nowhere_ = kJunk;  // what no location ever holds
  // What a live location holds on the two sides.
  struct Candidate {
    std::uint32_t location = 0;
    Value a = kJunk, b = kJunk;
  };
  std::vector<Candidate> candidates_;
  bool has_pieces_ = false;  // some candidate is a word that was put together
  // Where there are names that are undefined on one side: what the candidates hold, as words; bytes that stand by themselves
  // (predicates, pieces of words) and bits of packs; bytes of words.
  PairList words_, bytes_, bytes_of_words_;
  Entry next_;
};

}  // namespace regduel::oracles::symbolic
