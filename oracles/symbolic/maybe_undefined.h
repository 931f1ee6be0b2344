// The meet for a name that may be undefined on one side. No single value number describes such a name, so the result is a set:
//
//   meet(a, b) = OneOf { meet(x, y) : x satisfies a, y satisfies b }
//
// over all pairs (x, y) that a location holds on the two sides, and all (c, c) of constants c that a remat can make. A location
// whose pair is a member satisfies the name after the join; no other location does.
//
// Let t on the left and u on the right be a token of the join with the number n (Meet::tokens). If a, b or some location that may
// satisfy the name is a choice by that token, the name is asked for under each outcome by itself, because two locations may hold it
// together, each under one outcome:
//
//   meet(a, b) = Gate(n, meet(a where t, b where u), meet(a where not t, b where not u))       with all x where t, all y where u
//
// If a or b is a word put together, or some location holds such a word, the same is done for each byte, unless those locations hold
// pieces of other words than the name asks for. PairList finds the pairs: all that satisfy a name, and few others.
// Tested by maybe_undefined_test.cpp, which compares the search with a look at all pairs, and join_undefined_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracles/symbolic/meet.h"
#include "oracles/symbolic/pairs.h"

namespace regduel::oracles::symbolic {

// The values of a live location on the two sides of a join.
struct HeldPair {
  std::uint32_t location = 0;
  bool is_byte = false;
  Value a = kBottom, b = kBottom;
};

class MaybeUndefinedName {
 public:
  MaybeUndefinedName(Values& values, Meet& meet);

  //   held            the locations that may satisfy a name
  //   any_in_pieces   some name asks for bytes of words
  void begin(std::span<const HeldPair> held, bool any_in_pieces);
  // `bytes` as in Plan::bytes_of_name.
  [[nodiscard]] Value meet(Value a, Value b, unsigned bytes);

 private:
  // True if the name, or a location that may satisfy some part of it, is a choice by the token. Requires: no outcome of the token
  // is at hand.
  [[nodiscard]] bool is_choice_by(const Meet::Token& token, Value a, Value b);
  void list_byte(Value x, Value y);
  [[nodiscard]] Value meet_byte(Value a, Value b);
  [[nodiscard]] Value meet_word(Value a, Value b, unsigned bytes);
  [[nodiscard]] bool satisfy(Value have_a, Value have_b, Value want_a, Value want_b, unsigned bytes);
  void find(const PairList& in, Value a, Value b, unsigned bytes, bool are_words);
  static constexpr int kMostParts = 256;  // of a name, that are looked at for constants
  void find_constants(Value a, Value b, unsigned bytes);
  // The pair (x, y) under the outcomes at hand.
  void restrict_to_outcomes(Value& x, Value& y);
  void find_constant(Value c, Value a, Value b, unsigned bytes);
  [[nodiscard]] Value one_of_found();

  Values& values_;
  Meet& meet_;
  // The values of locations: whole words; words that were put together; and bytes: predicates, bits of packs, and bytes of words
  // that were put together or that such a name asks for.
  PairList whole_, in_pieces_, bytes_;
  PairList choices_;  // what locations hold that are choices on either side
  std::vector<Value> work_;
  std::vector<Value> found_;  // numbers of the pairs that satisfy the name at hand
  bool is_unsure_ = false;    // there may be more of them
  struct Outcome {
    Meet::Token token;
    bool holds = false;
  };
  static constexpr std::size_t kMostTokens = 4;  // by which one name is asked for
  std::vector<Outcome> outcomes_;                // at hand
};

}  // namespace regduel::oracles::symbolic
