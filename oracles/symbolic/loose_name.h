// The meet of a name that is undefined on some path of one side: it has no one class of places there.
//
//   meet(a, b) = OneOf { meet(x, y) : x satisfies a, y satisfies b }   over all pairs (x, y) that a location holds on the two
//   sides,
//                                                                      and all (c, c) where c is a constant that a remat can make
//
// Where a, b or some place that may hold it is a choice by a token of the join, t on the one side and u on the other with the
// number n (Meet::tokens), it is asked under each outcome by itself: two places may hold it together, each under one outcome.
//
//   meet(a, b) = Gate(n, meet(a where t, b where u), meet(a where not t, b where not u))       with all x where t, all y where u
//
// A location with the number of such a pair satisfies the name after the join, and no other does. Where a or b is a word put
// together, or some location holds one, the same is asked of each byte; but not where the locations that do hold pieces of other
// words than those asked for. The pairs are searched through PairList, which shows all that satisfy a name, and few others.
// Tested by loose_name_test.cpp, where the search is held against a look at all pairs, and join_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracles/symbolic/meet.h"
#include "oracles/symbolic/pairs.h"

namespace regduel::oracles::symbolic {

// What a live location holds on the two sides of a join.
struct HeldPair {
  std::uint32_t location = 0;
  bool is_byte = false;
  Value a = kJunk, b = kJunk;
};

class LooseName {
 public:
  LooseName(Values& values, Meet& meet);

  //   held            what may satisfy a name
  //   any_in_pieces   some name asks for bytes of words
  void begin(std::span<const HeldPair> held, bool any_in_pieces);
  // `bytes` as in Plan::bytes_of_name.
  [[nodiscard]] Value meet(Value a, Value b, unsigned bytes);

 private:
  // The name, or some place that may hold it in part at least, is a choice by the token, which is of no outcome at hand.
  [[nodiscard]] bool is_choice_by(const Meet::Token& token, Value a, Value b);
  void list_byte(Value x, Value y);
  [[nodiscard]] Value meet_byte(Value a, Value b);
  [[nodiscard]] Value meet_word(Value a, Value b, unsigned bytes);
  [[nodiscard]] bool satisfy(Value have_a, Value have_b, Value want_a, Value want_b, unsigned bytes);
  void find(const PairList& in, Value a, Value b, unsigned bytes, bool are_words);
  static constexpr int kMostParts = 256;  // of a name, that are looked at for constants
  void find_constants(Value a, Value b, unsigned bytes);
  // What places hold under the outcomes at hand.
  void restrict_to_outcomes(Value& x, Value& y);
  void find_constant(Value c, Value a, Value b, unsigned bytes);
  [[nodiscard]] Value one_of_found();

  Values& values_;
  Meet& meet_;
  // What the locations hold: words, those that were put together by themselves; bytes that stand by themselves (predicates), bytes
  // of words that were put together, or that such a name asks for, and bits of packs.
  PairList whole_, in_pieces_, bytes_;
  PairList choices_;  // what locations hold that are choices on either side
  std::vector<Value> work_;
  std::vector<Value> found_;  // numbers of the pairs that satisfy the name at hand
  bool is_unsure_ = false;    // there may be more of them
  struct Outcome {
    Meet::Token token;
    bool holds = false;
  };
  static constexpr std::size_t kMostTokens = 4;  // that one name is asked by
  std::vector<Outcome> outcomes_;                // at hand
};

}  // namespace regduel::oracles::symbolic
