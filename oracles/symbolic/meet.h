// The meet of two values, one from each side of a join, as a number for the pair. join.h says what it is for.
//
//   meet(a, b) = meet(c, d)        exactly where (a, b) = (c, d)                                     (1)
//   byte(meet(a, b), i)          = meet(byte(a, i), byte(b, i)), bits of packs likewise, where       (2)
//                                  byte(a, i) and byte(b, i) are not both Bottom
//   meet(a, a)                   = a if a is the same on every path: Bottom, constants, saved;       (3)
//                                  at a block without a back edge, for every a
//   meet(Unsatisfiable, b)       = meet(b, Unsatisfiable) = Unsatisfiable, without (1)
//
// By (1) two places that hold the same after a join held the same on each side: Kildall's partitions (see join.cpp). By (2) the
// same holds for their bytes. Any numbering of pairs would have property (1), and numbers for all bytes property (2). The cheaper
// way:
//
//   - A pair of words takes one number as long as none of its bytes was numbered by itself: (2) then defines the numbers of its
//     bytes. If a byte was, the left word is *split*, and the word is put together from the numbers of its bytes.
//   - The first pair (a, b) that asks for a number keeps a, if a is itself the number of a pair of this block from an earlier
//     visit. This renames numbers one to one, so (1) and (2) stay true, and a state that has not changed keeps its numbers.
//   - A pair that only locations hold is Bottom (Mode::Find): no name can ask for it.
//   - A byte that is made of bits under all outcomes of its gates meets bit by bit, as names do: each bit may have been written under
//     another guard, so that the outermost gates of two such bytes may belong to different bits. Where something else was written over a
//     pack under a guard, the gates tell the two apart.
//   - A pair of gates is a gate between the meets of their choices, by the meet of their tokens. So a choice outlives a join as
//     long as its predicate does, and keeps its number. On each side the new gate is the gate of that side, so (1) and (2) hold. If
//     only one value is a gate, or the two go by different tokens, a few tokens of the join are tried: t on the left, u on the right,
//     n the number of the two,
//
//       meet(a, b)             = Gate(n, meet(a where t, b where u), meet(a where not t, b where not u))
//
//     so that a value on the left, which is one choice of a gate on the right, keeps its number under that outcome. Two tokens may
//     have the same predicate on one side, e.g. (t, u) and (t, v). The left side then has no outcome in which one token holds and
//     the other does not. In such an outcome only the right values matter: a pair takes the number that its right value has in an
//     outcome where both tokens agree. One direction of (1) remains: places with equal numbers hold equal values on each side that can have
//     the outcome, but places that hold equal values may have different numbers.
//
// Tested by meet_test.cpp: (1) to (3) against random values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "oracles/symbolic/values.h"

namespace regduel::oracles::symbolic {

class Meet {
 public:
  enum class Mode : std::uint8_t {
    Number,                // a new pair gets a number
    NumberMaybeUndefined,  // a new pair gets a number that is undefined on some path
    Find,                  // a new pair is Bottom
  };

  explicit Meet(Values& values) : values_(values), slots_(16) {}

  // Begins the meet of one state with another at the head of `block`; no pair has a number yet.
  //   is_first     the block was not reached before: no number of its pairs is in use
  //   keeps_same   meet(a, a) = a. Requires: no value on the right has a number of this block. True of a block without a back edge,
  //                because the head of a loop around it has given each value another number
  void begin(std::uint32_t block, bool is_first, bool keeps_same = false);
  // Notes the values of a predicate on the two sides; of predicates that stand in bytes of words or in bits of packs.
  void note_predicate(Value a, Value b);
  void note_predicates_in(Value a, Value b);
  // Notes the tokens of a value that a place holds, or a name asks for, on the two sides.
  void note_choice(Value a, Value b);
  // Numbers the noted predicates, and chooses the tokens by which all pairs meet: the unchanged ones of `kept`, then at most `most`
  // others that a noted choice goes by. Requires: called before all other questions of the join.
  void choose_tokens(std::span<const Value> kept, int most);
  struct Token {
    Value left = kBottom, right = kBottom, number = kBottom;
  };
  [[nodiscard]] std::span<const Token> tokens() const { return tokens_; }
  [[nodiscard]] bool goes_by(const Token& t, Value a, Value b) { return values_.goes_by(a, t.left) || values_.goes_by(b, t.right); }
  // Numbers the tokens of the gates of a pair, so that the places that hold these tokens are found. At a new block the innermost
  // tokens are numbered first: the tokens of new gates then have the order of the old ones, and no diagram is turned over.
  // Requires: called before all other questions of the join but choose_tokens().
  void number_tokens(Value a, Value b, Mode mode);
  // `are_words`: else both are bytes, or bits.
  [[nodiscard]] Value operator()(Value a, Value b, Mode mode, bool are_words) {
    if (is_same(a, b)) return a;
    if (a < left_.size() && left_[a].epoch == epoch_ && left_[a].right == b) return left_[a].number;
    return of_new(a, b, mode, are_words);
  }

 private:
  // The pairs with one value on the left. Most values meet one value only: that pair stands here, the rest in slots_.
  struct Left {
    std::uint32_t epoch = 0;  // of right and number
    Value right = kBottom, number = kBottom;
    std::uint32_t kept_in = 0;   // the epoch in which a pair kept this value as its number
    std::uint32_t split_in = 0;  // of a word: the epoch in which one of its bytes was numbered by itself
  };
  // Open addressing, cleared by a new epoch.
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t epoch = 0;
    Value number = kBottom;
  };
  // The join at hand.
  struct Join {
    std::uint32_t block = 0;
    bool is_first = false, keeps_same = false;
    std::size_t num_slots_used = 0;
    std::uint32_t num_gates = 0;  // pairs of gates that were looked into
    bool is_cut = false;          // some pairs were not, so that new numbers may stand for less than they could
  };
  // Whether two are the same byte of two words, or the same bit of two bytes.
  struct Pieces {
    bool are_one = false;  // piece `at` of a and of b
    Value a = kBottom, b = kBottom;
    std::uint32_t at = 0;
  };

  [[nodiscard]] bool is_same(Value a, Value b) {
    return a == b && ((join_.keeps_same && (tokens_.empty() || !is_chosen(a))) || values_.is_fixed(a));
  }
  // True if `v` goes by a predicate that meets another predicate.
  [[nodiscard]] bool is_chosen(Value v);
  void note_choice(Value v, std::vector<Value>& choices, int& budget);
  static constexpr int kMostGatesOfChoice = 256;  // that are looked at for their tokens
  void set_number(const Token& t);
  [[nodiscard]] Value of_new(Value a, Value b, Mode mode, bool are_words);
  [[nodiscard]] bool has_packs(Value a, Value b) const { return values_.has_packs(a) || values_.has_packs(b); }
  static constexpr int kMostGatesOfBits = 8;  // on top of one another, in what meets bit by bit
  [[nodiscard]] bool meets_by_bits(Value a, Value b) const {
    return has_packs(a, b) && is_of_bits(a, kMostGatesOfBits) && is_of_bits(b, kMostGatesOfBits);
  }
  // Packed bits, or what is undefined, under all outcomes.
  [[nodiscard]] bool is_of_bits(Value v, int depth) const;
  [[nodiscard]] Value of_any(Value a, Value b, Mode mode, bool are_words);
  [[nodiscard]] Mode mode_of_part(Value x, Value y, Mode mode) const;
  // The token by which the two meet as gates; Bottom where they do not.
  [[nodiscard]] Value token_of_gates(Value a, Value b, Mode mode);
  // Whether gates by this token on the left may get another one: the block's own, once.
  [[nodiscard]] bool may_rename(Value token) const {
    return join_.is_first || (join_.keeps_same && (values_[token].kind != ValueKind::Merged || values_[token].a != join_.block));
  }
  [[nodiscard]] Value of_gates(Value token, Value a, Value b, Mode mode, bool are_words);
  [[nodiscard]] const Token* chosen_token(Value a, Value b);
  // A token, and others that are one predicate with it on one side, by which the value there is a choice.
  struct Alike {
    static constexpr std::size_t kMost = 4;
    std::array<Token, kMost> tokens{};
    std::size_t count = 0;
    bool is_left = false;  // the side

    // What v is under an outcome: tokens[k] holds where bit k is set.
    [[nodiscard]] Value where(Values& values, Value v, Value Token::* side, unsigned outcome) const;
  };
  [[nodiscard]] Alike alike_to(const Token& token, Value a, Value b);
  [[nodiscard]] Value by_outcome(const Token& token, Value a, Value b, Mode mode, bool are_words);
  [[nodiscard]] Value of_words(Value a, Value b, Mode mode);
  [[nodiscard]] Value of_bytes(Value a, Value b, Mode mode);  // or of bits
  [[nodiscard]] Value new_number(Value a, Value b, Mode mode) {
    return may_keep(a, b, left(a), mode) ? keep(a, left(a)) : new_leaf(a, b, mode);
  }
  [[nodiscard]] bool may_keep(Value a, Value b, const Left& l, Mode mode) const {
    return values_.is_undefined(a) == (mode == Mode::NumberMaybeUndefined) && may_keep(a, b, l);
  }
  [[nodiscard]] bool may_keep(Value a, Value b, const Left& l) const {
    const Values::Node& n = values_[a];
    return !join_.is_first && (!join_.is_cut || values_.is_cut(a)) && n.kind == ValueKind::Merged && n.a == join_.block &&
           l.kept_in != epoch_ && values_.inherits(a, a, b);
  }
  [[nodiscard]] Value keep(Value a, Left& l) const {
    l.kept_in = epoch_;
    return a;
  }
  [[nodiscard]] Value new_leaf(Value a, Value b, Mode mode) {
    return values_.add_leaf(ValueKind::Merged, join_.block, mode == Mode::NumberMaybeUndefined,
                            join_.is_cut ? values_.unknown_member() : a, b);
  }
  [[nodiscard]] Value known(Value a, Value b);  // Bottom where the pair has no number
  void remember(Value a, Value b, Value number);
  [[nodiscard]] bool is_unknown_byte(Value a, Value b);
  void remember_byte_of_word(Value a, Value b, Value number);
  [[nodiscard]] bool is_split(Value word) { return left(word).split_in == epoch_; }
  [[nodiscard]] Pieces pieces_of(Value a, Value b, ValueKind kind) const;
  [[nodiscard]] Left& left(Value a) {
    if (left_.size() <= a) left_.resize(values_.size() + values_.size() / 4);
    return left_[a];
  }
  [[nodiscard]] Slot& slot(std::uint64_t key);
  void grow();
  // Whether one more pair of gates may be looked into.
  [[nodiscard]] bool may_enter_gates() {
    join_.is_cut = join_.is_cut || ++join_.num_gates >= kMostGates;
    return !join_.is_cut;
  }
  static constexpr std::uint32_t kMostGates = 1 << 16;
  static std::uint64_t key_of(Value a, Value b) { return static_cast<std::uint64_t>(a) << 32 | b; }

  Values& values_;
  std::uint32_t epoch_ = 0;
  Join join_;
  std::vector<Left> left_;   // by value
  std::vector<Slot> slots_;  // power of two
  // Pairs whose tokens have numbers, the later in place of the earlier; empty until it is needed.
  struct NumberedPair {
    std::uint64_t key = 0;
    std::uint32_t epoch = 0;
  };
  static constexpr std::size_t kNumberedPairs = 1024;
  std::vector<NumberedPair> numbered_;
  struct Predicate {
    Value left = kBottom, right = kBottom;
  };
  std::vector<Predicate> predicates_;
  std::vector<Value> left_choices_, right_choices_;  // tokens of the values at hand
  std::vector<Token> tokens_;
};

}  // namespace regduel::oracles::symbolic
