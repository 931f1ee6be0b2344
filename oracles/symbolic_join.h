// The abstract state at the head of a block, and the meet over the edges that lead there. Tested by symbolic_test.cpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "oracles/symbolic_plan.h"
#include "oracles/symbolic_state.h"

namespace regduel::oracles::symbolic {

// Only what the live names ask for is kept.
struct Entry {
  bool is_reached = false;
  std::vector<Value> names;                                  // of the plan's live_in(block), in that order
  std::vector<std::pair<std::uint32_t, Value>> locations;    // location, what it holds; each at most once

  friend bool operator==(const Entry&, const Entry&) = default;
};

class Joiner {
 public:
  explicit Joiner(Plan& plan);

  // entry := entry meet state (of which the edge has been entered). True if it changed. A block with one edge into it takes the state
  // as it is.
  // Cost: live names + locations that hold something; for each name that is undefined on one side only, the locations again.
  [[nodiscard]] bool flow_into(Entry& entry, std::uint32_t block, const State& state);
  // state := entry. Requires: state is clear.
  void load(const Entry& entry, std::uint32_t block, State& state) const;

 private:
  // Two values, one a side, that a place holds. The number of the pair after the meet: the same pair, the same number.
  enum class Mode : std::uint8_t { Number, NumberLoose, Find };  // Find: Junk where no name asked for the pair
  [[nodiscard]] Value meet(Value a, Value b, Mode mode, bool is_word);
  [[nodiscard]] Value meet_words(Value a, Value b, Mode mode);
  [[nodiscard]] Value meet_leaf(Value a, Value b, Mode mode);
  [[nodiscard]] Value number(Value a, Mode mode);
  void remember(Value a, Value b, Value v);
  static std::uint64_t key_of(Value a, Value b) { return static_cast<std::uint64_t>(a) << 32 | b; }

  [[nodiscard]] bool pass(Entry& entry, std::uint32_t block, const State& state);
  void ask_for(Value v);
  [[nodiscard]] bool is_asked_for(Value v);  // holds something that a name asks for
  [[nodiscard]] std::uint32_t& mark(Value v);
  [[nodiscard]] Value meet_loose_byte(Value a, Value b);
  [[nodiscard]] Value meet_loose_word(Value a, Value b, unsigned bytes);
  [[nodiscard]] bool holds(Value have_a, Value have_b, Value want_a, Value want_b, unsigned bytes);
  void find_constants(Value a, Value b, unsigned bytes, std::vector<Value>& members);
  // Pairs of values, unique, by either side. `order` is that of the locations.
  struct Pair {
    Value key = kJunk, other = kJunk;
    std::uint32_t order = 0;
  };
  struct PairIndex {
    std::vector<Pair> by_x, by_y;  // key: what is in the entry; what comes in
    void add(Value x, Value y);
    void sort();
  };
  void index_candidates();
  [[nodiscard]] bool has_words(Value v) const;
  [[nodiscard]] bool is_plain(Value v) const;
  [[nodiscard]] bool plain_members(Value v, std::vector<Value>& members) const;
  void find_pairs(const PairIndex& index, Value a, Value b);
  void number_found(Value a, Value b, unsigned bytes, bool are_words, std::vector<Value>& members);
  void find_bytes(Value a, Value b, bool in_words, std::vector<Value>& members);

  Plan& plan_;
  Values& values_;
  std::uint32_t block_ = 0;
  bool is_first_ = false;               // nothing has come into the block yet
  std::vector<std::uint32_t> taken_;    // by value: the epoch in which a pair kept it as its number
  // Pairs of this meet: open addressing, cleared by epoch.
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t epoch = 0;
    Value value = kJunk;
  };
  std::vector<Slot> slots_;
  std::size_t num_slots_used_ = 0;
  std::uint32_t epoch_ = 0;
  Slot& slot(std::uint64_t key);
  void grow();

  Value nowhere_ = kJunk;              // what no location ever holds
  std::vector<std::uint32_t> marks_;   // by value: 2 x epoch = asked for, 2 x epoch + 1 = not
  std::vector<std::pair<std::uint32_t, std::pair<Value, Value>>> candidates_;
  PairIndex words_, bytes_;
  bool has_pieces_ = false;
  std::vector<Value> keys_;
  std::vector<Pair> found_;
  std::vector<std::uint32_t> is_candidate_;  // by location: epoch
  std::vector<std::uint32_t> loose_names_;   // positions in live_in
  Entry next_;
};

}  // namespace regduel::oracles::symbolic
