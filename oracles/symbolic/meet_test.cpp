// The equations of meet.h, over random values.
#include "oracles/symbolic/meet.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::oracles::symbolic {
namespace {

using Mode = Meet::Mode;

// Words: leaves, constants, some put together of pieces of others, some under a guard. Bottom is one of them.
std::vector<Value> some_words(Values& v, Random& random) {
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 4), constant = v.add_leaves(ValueKind::Constant, 1, 2),
              token = v.add_leaves(ValueKind::Def, 2, 2);
  std::vector<Value> words = {kBottom, leaf, leaf + 1, leaf + 2, leaf + 3, constant, constant + 1};
  for (int k = 0; k < 4; ++k) {
    std::array<Value, 4> bytes{};
    for (Value& b : bytes) b = v.byte(words[random.below(7)], random.below(4));
    words.push_back(v.word(bytes));
  }
  for (int k = 0; k < 3; ++k) {
    const Value yes = words[random.below(static_cast<std::uint32_t>(words.size()))];
    words.push_back(v.gate(token + random.below(2), yes, leaf + random.below(4)));
  }
  return words;
}

std::array<Value, 4> bytes_of(Values& v, Value word) {
  return {v.byte(word, 0), v.byte(word, 1), v.byte(word, 2), v.byte(word, 3)};
}

// In whatever order words and bytes are asked for.
TEST(MeetTest, NumbersPairsAndTheirBytesTogether) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Values v;
    Meet meet(v);
    const std::vector<Value> words = some_words(v, random);
    for (std::uint32_t block = 0; block < 4; ++block) {
      const bool keeps_same = block % 2 == 1;
      meet.begin(block, !keeps_same && random.chance(50), keeps_same);
      std::map<std::pair<Value, Value>, Value> number;
      std::map<Value, std::pair<Value, Value>> pair_of;
      const auto check = [&](Value a, Value b, bool are_words) {
        const Value n = meet(a, b, Mode::Number, are_words);
        const auto [known, is_new] = number.emplace(std::pair(a, b), n);
        ASSERT_EQ(known->second, n) << "the same pair, the same number";
        const auto [pair, is_first] = pair_of.emplace(n, std::pair(a, b));
        ASSERT_EQ(pair->second, std::pair(a, b)) << "another pair, another number";
        if (a == b && (keeps_same || v.is_fixed(a))) {
          ASSERT_EQ(n, a);
        }
      };
      for (int k = 0; k < 60; ++k) {
        const Value a = words[random.below(static_cast<std::uint32_t>(words.size()))],
                    b = words[random.below(static_cast<std::uint32_t>(words.size()))];
        if (random.chance(30)) {
          ASSERT_NO_FATAL_FAILURE(check(v.byte(a, random.below(4)), v.byte(b, random.below(4)), false));
          continue;
        }
        ASSERT_NO_FATAL_FAILURE(check(a, b, true)) << "seed " << seed;
        const auto left = bytes_of(v, a), right = bytes_of(v, b), whole = bytes_of(v, meet(a, b, Mode::Number, true));
        for (std::size_t i = 0; i < 4; ++i) {
          if (left[i] == kBottom && right[i] == kBottom) continue;
          ASSERT_NO_FATAL_FAILURE(check(left[i], right[i], false)) << "seed " << seed;
          ASSERT_EQ(meet(left[i], right[i], Mode::Number, false), whole[i]) << "seed " << seed;
        }
      }
    }
  }
}

TEST(MeetTest, FindsWhatWasAskedForAndNothingElse) {
  Values v;
  Meet meet(v);
  const Value a = v.add_leaves(ValueKind::Def, 0, 40), c = v.add_leaves(ValueKind::Constant, 1);
  meet.begin(1, true);
  std::vector<Value> numbers;
  for (Value k = 0; k < 40; ++k)  // more pairs of one value than fit the table at first
    numbers.push_back(meet(a, a + k, Mode::Number, true));
  for (Value k = 0; k < 40; ++k) EXPECT_EQ(meet(a, a + k, Mode::Find, true), numbers[k]);
  EXPECT_EQ(meet(a + 1, a, Mode::Find, true), kBottom);
  EXPECT_EQ(meet(v.byte(a, 2), v.byte(a + 3, 2), Mode::Find, false), v.byte(numbers[3], 2));
  EXPECT_EQ(meet(v.byte(a, 2), v.byte(a + 3, 1), Mode::Find, false), kBottom);
  EXPECT_EQ(meet(v.bit(v.byte(a, 2), 5), v.bit(v.byte(a + 3, 2), 5), Mode::Find, false), v.bit(v.byte(numbers[3], 2), 5));
  EXPECT_EQ(meet(v.bit(v.byte(a + 1, 2), 5), v.bit(v.byte(a + 3, 2), 5), Mode::Find, false), kBottom);
  EXPECT_EQ(meet(c, c, Mode::Find, true), c);
  meet.begin(1, true);
  for (Value k = 0; k < 40; ++k) EXPECT_EQ(meet(a, a + k, Mode::Find, true), kBottom) << "of another join";
}

TEST(MeetTest, ThePairThatAsksFirstKeepsTheNumberOfItsClass) {
  Values v;
  Meet meet(v);
  const Value a = v.add_leaves(ValueKind::Def, 0, 3);
  meet.begin(4, true);
  const Value old = meet(a, a, Mode::Number, true), maybe_undefined = meet(a + 1, a + 1, Mode::NumberMaybeUndefined, true);
  EXPECT_TRUE(v.is_undefined(maybe_undefined));
  EXPECT_FALSE(v.is_undefined(old));
  meet.begin(4, false);
  EXPECT_EQ(meet(old, a + 1, Mode::Number, true), old);
  const Value other = meet(old, a + 2, Mode::Number, true);
  EXPECT_NE(other, old);
  EXPECT_NE(meet(maybe_undefined, a, Mode::Number, true), maybe_undefined) << "one may be undefined, the other may not";
  EXPECT_EQ(meet(maybe_undefined, a + 1, Mode::NumberMaybeUndefined, true), maybe_undefined);
  meet.begin(5, false);
  EXPECT_NE(meet(old, a + 1, Mode::Number, true), old) << "of another block";
  meet.begin(4, true);
  EXPECT_NE(meet(old, a + 1, Mode::Number, true), old) << "no number of this block is in use";
}

// The number of a narrow name says nothing of the rest of its word from the first visit on, so it stays when that is lost.
TEST(MeetTest, ANarrowNameKeepsItsNumber) {
  Values v;
  Meet meet(v);
  const Value half = v.add_leaves_of_bytes(ValueKind::Def, 0, 2), other = v.add_leaves(ValueKind::Def, 1);
  const Value in_part = v.word({v.byte(other, 0), v.byte(other, 1), kBottom, kBottom});
  meet.begin(1, true);
  const Value old = meet(half, half, Mode::Number, true);
  EXPECT_FALSE(v.is_vague(v.byte(old, 1)));
  EXPECT_TRUE(v.is_vague(v.byte(old, 2)));
  meet.begin(1, false);
  EXPECT_EQ(meet(old, in_part, Mode::Number, true), old);
}

// What is the one on one side and a choice on the other is one number, as long as no byte of it was numbered by itself.
TEST(MeetTest, AGateThatEndsIsOneNumber) {
  Values v;
  Meet meet(v);
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 4), token = v.add_leaves(ValueKind::Def, 1);
  meet.begin(1, true);
  const Value t = meet(token, token, Mode::Number, false), x = meet(leaf, leaf, Mode::Number, true),
              y = meet(leaf + 1, leaf + 1, Mode::Number, true);
  const Value gate = v.gate(t, x, y);
  meet.begin(1, false);
  const Value whole = meet(gate, leaf + 2, Mode::Number, true);
  EXPECT_TRUE(v.is_atom(whole));
  EXPECT_EQ(meet(v.byte(gate, 2), v.byte(leaf + 2, 2), Mode::Find, false), v.byte(whole, 2));
  meet.begin(1, false);
  const Value third = meet(v.byte(gate, 3), v.byte(leaf + 2, 3), Mode::Number, false),
              in_pieces = meet(gate, leaf + 2, Mode::Number, true);
  EXPECT_FALSE(v.is_leaf(in_pieces));
  EXPECT_EQ(v.byte(in_pieces, 3), third);
}

// By the meet of their tokens, where that has a number.
TEST(MeetTest, GatesMeetAsGates) {
  Values v;
  Meet meet(v);
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 4), token = v.add_leaves(ValueKind::Def, 1, 2);
  const Value left = v.gate(token, leaf, leaf + 1), right = v.gate(token + 1, leaf + 2, leaf + 3);
  meet.begin(1, true);
  const Value x = meet(leaf, leaf + 2, Mode::Number, true);
  EXPECT_EQ(meet(left, right, Mode::Find, true), kBottom);
  meet.number_tokens(left, right, Meet::Mode::NumberMaybeUndefined);
  const Value t = meet(token, token + 1, Mode::Find, false);
  ASSERT_NE(t, kBottom);
  EXPECT_EQ(meet(left, right, Mode::Find, true), v.gate(t, x, kBottom));
  const Value whole = meet(left, right, Mode::Number, true);
  EXPECT_EQ(v.where(whole, t, true), x);
  EXPECT_EQ(v.where(whole, t, false), meet(leaf + 1, leaf + 3, Mode::Find, true));
}

TEST(MeetTest, GatesOfANewBlockHaveTheirTokensInTheOldOrder) {
  // A chain of choices, the latest on top. Numbered from the top, its tokens would turn the chain over.
  Values v;
  Meet meet(v);
  const Value tokens = v.add_leaves(ValueKind::Def, 1, 100), leaves = v.add_leaves(ValueKind::Def, 0, 101);
  Value chain = leaves;
  for (Value k = 0; k < 100; ++k) chain = v.gate(tokens + k, leaves + k + 1, chain);
  meet.begin(1, true);
  meet.number_tokens(chain, chain, Mode::Number);
  Value met = meet(chain, chain, Mode::Number, true);
  for (Value k = 100; k > 0; --k) {
    ASSERT_EQ(v[met].kind, ValueKind::Gate);
    EXPECT_EQ(v[met].a, meet(tokens + k - 1, tokens + k - 1, Mode::Find, false));
    EXPECT_EQ(v[met].b, meet(leaves + k, leaves + k, Mode::Find, true));
    met = v[met].c;
  }
  EXPECT_EQ(met, meet(leaves, leaves, Mode::Find, true));
}

// The same where each choice is made in the upper half, in the bytes of a word, in the bits of a pack, and in what a gate goes by.
TEST(MeetTest, TheOldOrderHoldsOnEachWayDown) {
  Values v;
  Meet meet(v);
  const Value tokens = v.add_leaves(ValueKind::Def, 1, 20), leaves = v.add_leaves(ValueKind::Def, 0, 21),
              bits = v.add_leaves(ValueKind::Def, 2, 21);
  Value chain = leaves, by = bits;
  for (Value k = 0; k < 20; ++k) {
    chain = v.gate(tokens + k, chain, leaves + k + 1);
    by = v.gate(tokens + k, by, bits + k + 1);
  }
  const auto expect_order = [&](Value met) {
    for (Value k = 20; k > 0; --k) {
      ASSERT_EQ(v[met].kind, ValueKind::Gate) << k;
      ASSERT_EQ(v[met].a, meet(tokens + k - 1, tokens + k - 1, Mode::Find, false)) << k;
      met = v[met].b;
    }
  };
  {
    SCOPED_TRACE("in the upper half");
    meet.begin(1, true);
    meet.number_tokens(chain, chain, Mode::Number);
    expect_order(meet(chain, chain, Mode::Number, true));
  }
  {
    SCOPED_TRACE("in the bytes of a word");
    const Value word = v.word({v.byte(chain, 0), v.byte(leaves, 1), v.byte(leaves + 1, 3), v.byte(leaves + 2, 0)});
    ASSERT_EQ(v[word].kind, ValueKind::Word);
    meet.begin(2, true);
    meet.number_tokens(word, word, Mode::Number);
    expect_order(v.byte(meet(word, word, Mode::Number, true), 0));
  }
  {
    SCOPED_TRACE("in the bits of a pack");
    std::array<Value, 8> of_pack{};
    for (std::uint32_t k = 0; k < 8; ++k) of_pack[k] = k == 3 ? by : v.bit(v.byte(leaves, 0), k);
    const Value pack = v.packed(of_pack);
    ASSERT_EQ(v[pack].kind, ValueKind::Packed);
    meet.begin(4, true);
    meet.number_tokens(pack, pack, Mode::Number);
    expect_order(v.bit(meet(pack, pack, Mode::Number, false), 3));
  }
  {
    SCOPED_TRACE("in a token");
    const Value gate = v.gate(by, leaves, leaves + 1);
    meet.begin(3, true);
    meet.number_tokens(gate, gate, Mode::Number);
    expect_order(meet(by, by, Mode::Find, false));
  }
}

// Where what is the same stays, a token that is another one on the other side has a new number once, and keeps it.
TEST(MeetTest, GatesOfTwoWaysMeetWhereNoEdgeLeadsBack) {
  Values v;
  Meet meet(v);
  const Value tokens = v.add_leaves(ValueKind::Def, 1, 6), leaves = v.add_leaves(ValueKind::Def, 0, 3);
  const auto chain = [&](Value outer, Value inner) { return v.gate(outer, leaves, v.gate(inner, leaves + 1, leaves + 2)); };
  const auto visit = [&](Value left, Value right) {
    meet.begin(1, false, true);
    meet.number_tokens(left, right, Mode::Number);
    return meet(left, right, Mode::Find, true);
  };
  const Value here = chain(tokens + 1, tokens), there = chain(tokens + 3, tokens + 2);
  const Value met = visit(here, there);
  ASSERT_EQ(v[met].kind, ValueKind::Gate);
  EXPECT_EQ(v[met].b, leaves);
  EXPECT_EQ(v[met].a, meet(tokens + 1, tokens + 3, Mode::Find, false)) << "in the old order";
  EXPECT_EQ(v[v[met].c].a, meet(tokens, tokens + 2, Mode::Find, false));
  EXPECT_EQ(visit(met, there), met);
  EXPECT_EQ(visit(here, here), here);
  // It is the number of one pair: by another one on the right it is not what it was.
  meet.begin(1, false, true);
  ASSERT_NE(meet(v[met].a, tokens + 4, Mode::Number, false), kBottom);
  meet.number_tokens(met, there, Mode::Number);
  EXPECT_EQ(meet(met, there, Mode::Find, true), kBottom);
}

// A byte that both sides have is what it is, and so the rest of the word has numbers of its own.
TEST(MeetTest, AByteOfAWordStaysWhereNoEdgeLeadsBack) {
  Values v;
  Meet meet(v);
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 3);
  const Value mixed = v.word({v.byte(leaf, 0), v.byte(leaf + 1, 1), v.byte(leaf + 1, 2), v.byte(leaf + 1, 3)});
  meet.begin(1, false, true);
  const Value met = meet(leaf, mixed, Mode::Number, true);
  EXPECT_EQ(v.byte(met, 0), v.byte(leaf, 0));
  EXPECT_NE(v.byte(met, 1), v.byte(leaf, 1));
  EXPECT_EQ(meet(v.byte(leaf, 1), v.byte(mixed, 1), Mode::Find, false), v.byte(met, 1));
  EXPECT_EQ(meet(leaf, leaf, Mode::Find, true), leaf);
  EXPECT_EQ(meet(kBottom, leaf, Mode::Find, true), kBottom);
}

// On a later visit, where each token keeps its number, the gates below are numbered as well: places that hold them are found.
TEST(MeetTest, GatesBelowAreNumberedOnALaterVisit) {
  Values v;
  Meet meet(v);
  const Value tokens = v.add_leaves(ValueKind::Def, 1, 2), leaves = v.add_leaves(ValueKind::Def, 0, 3);
  const Value chain = v.gate(tokens + 1, leaves + 2, v.gate(tokens, leaves, leaves + 1));
  const auto visit = [&](bool is_first, Value value, std::array<Value, 3> parts) {
    meet.begin(1, is_first);
    meet.number_tokens(value, value, Mode::Number);
    for (Value& p : parts) p = meet(p, p, Mode::Number, true);
    return std::pair(meet(value, value, Mode::Find, true), parts);
  };
  const auto [first, parts] = visit(true, chain, {leaves, leaves + 1, leaves + 2});
  ASSERT_EQ(v[first].kind, ValueKind::Gate);
  EXPECT_EQ(visit(false, first, parts).first, first);
}

// Each gate is looked into once, however many ways lead to it.
TEST(MeetTest, SharedGatesAreNumberedOnce) {
  Values v;
  Meet meet(v);
  const Value tokens = v.add_leaves(ValueKind::Def, 1, 30), leaves = v.add_leaves(ValueKind::Def, 0, 2);
  Value x = leaves, y = leaves + 1;
  for (Value k = 0; k < 30; ++k) {
    const Value up = v.gate(tokens + k, x, y);
    y = v.gate(tokens + k, y, x);
    x = up;
  }
  meet.begin(1, true);
  meet.number_tokens(x, x, Mode::Number);
  const Value met = meet(x, x, Mode::Number, true);
  EXPECT_TRUE(v.is_gated(met));
  EXPECT_FALSE(v.is_cut(met));
}

TEST(MeetTest, WhereGatesAreTooManyNewNumbersSaySo) {
  Values v;
  Meet meet(v);
  const Value token = v.add_leaves(ValueKind::Def, 1), leaves = v.add_leaves(ValueKind::Def, 0, 1 << 17);
  std::vector<Value> gates;
  for (Value k = 0; k < 1 << 17; k += 2) gates.push_back(v.gate(token, leaves + k, leaves + k + 1));
  meet.begin(1, true);
  EXPECT_FALSE(v.is_cut(meet(gates[0], gates[0], Mode::Number, true)));
  for (const Value g : gates) (void)meet(g, g, Mode::Number, true);
  const Value last = meet(gates.back(), gates.back(), Mode::Number, true);
  EXPECT_FALSE(v.is_gated(last));
  EXPECT_TRUE(v.is_cut(last));
  // In the next join it is what it is.
  meet.begin(1, false);
  EXPECT_EQ(meet(last, last, Mode::Number, true), last);
}

TEST(MeetTest, WhatNothingSatisfiesStaysSo) {
  Values v;
  Meet meet(v);
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 1);
  meet.begin(1, true);
  for (const Mode mode : {Mode::Number, Mode::NumberMaybeUndefined}) {
    EXPECT_EQ(meet(kUnsatisfiable, leaf, mode, true), kUnsatisfiable);
    EXPECT_EQ(meet(leaf, kUnsatisfiable, mode, true), kUnsatisfiable);
    EXPECT_EQ(meet(v.byte(leaf, 2), v.byte(kUnsatisfiable, 2), mode, false), v.byte(kUnsatisfiable, 2));
  }
}

TEST(MeetTest, BitsOfPacksMeetOneByOne) {
  Values v;
  Meet meet(v);
  const Value w = v.add_leaves(ValueKind::Def, 0, 2), p = v.add_leaves(ValueKind::Def, 1, 4);
  const auto with_bit = [&](Value word, std::uint32_t k, Value predicate) {
    std::array<Value, 8> bits{};
    for (std::uint32_t i = 0; i < 8; ++i) bits[i] = v.bit(v.byte(word, 0), i);
    bits[k] = predicate;
    return v.packed(bits);
  };
  meet.begin(1, true);
  const Value predicate = meet(p, p + 1, Mode::Number, false);
  const Value pack = meet(with_bit(w, 3, p), with_bit(w + 1, 3, p + 1), Mode::Number, false);
  EXPECT_EQ(v.bit(pack, 3), predicate);
  EXPECT_EQ(v.bit(pack, 4), meet(v.bit(v.byte(w, 0), 4), v.bit(v.byte(w + 1, 0), 4), Mode::Find, false));
  EXPECT_NE(v.bit(pack, 4), kBottom);
}

// A loop whose head has a predicate t and two values x, y: what comes back is t again and a choice by it.
class MeetByTokens : public ::testing::Test {
 protected:
  Values v;
  Meet meet{v};
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 8), predicate = v.add_leaves(ValueKind::Def, 1, 8);
  Value t = kBottom, u = kBottom, x = kBottom, y = kBottom;

  void SetUp() override {
    meet.begin(1, true);
    t = meet(predicate, predicate, Mode::NumberMaybeUndefined, false);
    u = meet(predicate + 1, predicate + 1, Mode::NumberMaybeUndefined, false);
    x = meet(leaf, leaf, Mode::Number, true);
    y = meet(leaf + 1, leaf + 1, Mode::Number, true);
    meet.begin(1, false);
  }
  // The tokens that are chosen where `choice` is on the right.
  std::vector<Value> choose(Value choice, std::vector<Value> kept = {}, int most = 8) {
    meet.note_choice(kBottom, choice);
    meet.choose_tokens(kept, most);
    std::vector<Value> chosen;
    for (const Meet::Token& token : meet.tokens()) chosen.push_back(token.number);
    std::ranges::sort(chosen);
    return chosen;
  }
};

TEST_F(MeetByTokens, AValueMeetsAChoice) {
  meet.note_predicate(t, t);
  const Value choice = v.gate(t, leaf + 2, x);
  EXPECT_EQ(choose(choice), std::vector{t});
  ASSERT_EQ(meet(x, x, Mode::Number, true), x);
  const Value name = meet(x, choice, Mode::Number, true), other = meet(x, leaf + 2, Mode::Find, true);
  ASSERT_NE(other, kBottom);
  EXPECT_EQ(name, v.gate(t, other, x)) << "where t does not hold it is what it was";
  EXPECT_EQ(meet(y, v.gate(t, leaf + 2, x), Mode::Find, true), kBottom);
  EXPECT_EQ(meet(kBottom, v.gate(t, leaf + 2, y), Mode::Find, true), kBottom);
  EXPECT_EQ(meet(v.gate(t, kBottom, x), x, Mode::Find, true), v.gate(t, kBottom, x)) << "and the other way round";
  EXPECT_EQ(v.byte(name, 2), meet(v.byte(x, 2), v.byte(choice, 2), Mode::Find, false));
}

// Each by the token of the other too.
TEST_F(MeetByTokens, ChoicesByDifferentTokensMeet) {
  meet.note_predicate(t, t);
  meet.note_predicate(u, u);
  meet.note_choice(v.gate(t, kBottom, x), kBottom);
  EXPECT_EQ(choose(v.gate(u, x, y)), (std::vector{std::min(t, u), std::max(t, u)}));
  (void)meet(x, x, Mode::Number, true);
  const Value met = meet(v.gate(t, kBottom, x), v.gate(u, x, y), Mode::Find, true);
  EXPECT_EQ(met, v.gate(t, kBottom, v.gate(u, x, kBottom)));
}

// On a way beside the loop it keeps its number. In another block it has another one, and is a token all the same.
TEST_F(MeetByTokens, APredicateThatHasChanged) {
  meet.note_predicate(u, predicate + 2);
  EXPECT_EQ(choose(v.gate(predicate + 2, leaf, leaf + 1)), std::vector{u});
  meet.begin(2, false);
  meet.note_predicate(u, predicate + 2);
  const Value choice = v.gate(predicate + 2, leaf, leaf + 1);
  const std::vector<Value> chosen = choose(choice);
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_NE(chosen[0], u);
  EXPECT_EQ(chosen[0], meet(u, predicate + 2, Mode::Find, false));
  const Value n = meet(x, leaf, Mode::Number, true);
  EXPECT_EQ(meet(v.gate(u, x, kBottom), choice, Mode::Find, true), v.gate(chosen[0], n, kBottom));
  meet.begin(1, false);
  meet.note_predicate(u, u);
  EXPECT_TRUE(choose(v.gate(t, leaf, leaf + 1)).empty()) << "no choice goes by it";
}

TEST_F(MeetByTokens, ThereAreAsManyAsAreAllowed) {
  const auto both = v.gate(t, leaf, v.gate(u, leaf + 1, leaf + 2));
  const auto chosen = [&](std::vector<Value> kept, int most) {
    meet.begin(1, false);
    meet.note_predicate(t, t);
    meet.note_predicate(u, u);
    return choose(both, std::move(kept), most);
  };
  EXPECT_EQ(chosen({}, 2).size(), 2u);
  EXPECT_EQ(chosen({}, 1), std::vector{t}) << "the first";
  EXPECT_EQ(chosen({u}, 0), std::vector{u}) << "one that was chosen before";
  meet.begin(2, false);
  meet.note_predicate(u, predicate + 2);
  EXPECT_TRUE(choose(v.gate(u, leaf, leaf + 1), {u}, 0).empty()) << "which is another one now";
  EXPECT_TRUE(chosen({}, 0).empty());
  meet.begin(1, false);
  meet.note_predicate(t, t);
  meet.choose_tokens({}, 8);
  EXPECT_TRUE(meet.tokens().empty()) << "choices of another join";
  meet.note_choice(both, kBottom);
  meet.begin(1, false);
  meet.note_predicate(t, t);
  meet.choose_tokens({}, 8);
  EXPECT_TRUE(meet.tokens().empty()) << "of its left side, too";
}

TEST_F(MeetByTokens, TokensAreFoundAnywhereInAChoice) {
  const Value inner = v.gate(std::min(t, u), leaf, leaf + 1), token = std::max(t, u);
  const Value word = v.word({v.byte(leaf + 3, 0), v.byte(inner, 1), v.byte(leaf + 4, 2), v.byte(leaf + 4, 3)});
  for (const Value choice : {v.gate(token, inner, leaf + 2), v.gate(token, leaf + 2, inner), word, v.one_of({leaf + 5, inner})}) {
    meet.begin(1, false);
    meet.note_predicate(std::min(t, u), std::min(t, u));
    EXPECT_EQ(choose(choice), std::vector{std::min(t, u)});
  }
}

// Two predicates were one; the one by which both sides choose keeps the number, or the one that has not changed.
TEST_F(MeetByTokens, OfTwoPredicatesThatWereOne) {
  meet.note_predicate(t, predicate + 4);
  meet.note_predicate(t, t);
  EXPECT_EQ(choose(v.gate(t, leaf, x)), std::vector{t});
  EXPECT_EQ(meet(t, t, Mode::Find, false), t);
  meet.begin(1, false);
  meet.note_predicate(t, predicate + 4);
  meet.note_predicate(t, predicate + 5);
  meet.note_choice(v.gate(t, leaf, x), kBottom);
  const std::vector<Value> chosen = choose(v.gate(predicate + 5, leaf, x));
  EXPECT_EQ(chosen, (std::vector{t, meet(t, predicate + 4, Mode::Find, false)}));
  EXPECT_EQ(meet(t, predicate + 5, Mode::Find, false), t);
}

// No outcome in which they differ is on that side: there what the other side has is what it is elsewhere.
TEST_F(MeetByTokens, TwoPredicatesMayBeOneOnOneSide) {
  const Value r = predicate + 4;
  meet.note_predicate(t, r);
  meet.note_predicate(u, r);
  EXPECT_EQ(choose(v.gate(r, leaf, leaf + 1)), (std::vector{std::min(t, u), std::max(t, u)}));
  const Value name = meet(x, leaf, Mode::Number, true);
  // x and leaf under t or u, and nothing where neither holds.
  const Value held = meet(v.gate(t, x, v.gate(u, x, kBottom)), v.gate(r, leaf, kBottom), Mode::Find, true);
  EXPECT_EQ(held, v.gate(t, name, v.gate(u, name, kBottom)));
  const Value other = meet(v.gate(t, x, v.gate(u, y, kBottom)), v.gate(r, leaf, kBottom), Mode::Find, true);
  EXPECT_EQ(v.where(v.where(other, t, true), u, true), name);
  EXPECT_EQ(v.where(v.where(other, t, true), u, false), name) << "the left side alone, which has x there";
  EXPECT_NE(v.where(v.where(other, t, false), u, true), name) << "where it has y";

  meet.begin(1, false);
  meet.note_predicate(t, r);
  meet.note_predicate(t, r + 1);
  const std::vector<Value> chosen = choose(v.gate(r, leaf, v.gate(r + 1, leaf, kBottom)));
  ASSERT_EQ(chosen.size(), 2u);
  const Value whole = meet(x, leaf, Mode::Number, true);
  EXPECT_EQ(meet(v.gate(t, x, kBottom), v.gate(r, leaf, v.gate(r + 1, leaf, kBottom)), Mode::Find, true),
            v.gate(chosen[0], whole, v.gate(chosen[1], whole, kBottom)));
}

// Where no edge leads back, a value that goes by a predicate which becomes another one is not what it was.
TEST_F(MeetByTokens, AChoiceIsNotTheSameByAnotherPredicate) {
  meet.begin(2, false, true);
  meet.note_predicate(t, u);
  const std::vector<Value> chosen = choose(v.gate(u, x, y));
  ASSERT_EQ(chosen.size(), 1u);
  const Value choice = v.gate(t, x, y), name = meet(choice, choice, Mode::Number, true);
  EXPECT_EQ(name, v.gate(chosen[0], meet(x, choice, Mode::Find, true), meet(y, choice, Mode::Find, true)));
  EXPECT_EQ(meet(y, y, Mode::Number, true), y);
}

TEST_F(MeetByTokens, AVaguePredicateIsNone) {
  meet.begin(1, true);
  const Value vague = meet(kBottom, predicate, Mode::NumberMaybeUndefined, false);
  ASSERT_TRUE(v.is_vague(vague));
  meet.begin(1, false);
  meet.note_predicate(vague, predicate);
  EXPECT_TRUE(choose(v.gate(predicate, leaf, x)).empty());
}

// It was defined on all paths so far.
TEST_F(MeetByTokens, APredicateStaysWhereItMayBeUndefined) {
  const Value maybe_undefined = v.add_leaves(ValueKind::Def, 2, 1, true);
  meet.begin(1, true);
  const Value defined = meet(predicate, predicate, Mode::Number, false);
  ASSERT_FALSE(v.is_undefined(defined));
  meet.begin(1, false);
  meet.note_predicate(defined, maybe_undefined);
  EXPECT_EQ(choose(v.gate(maybe_undefined, leaf, x)), std::vector{defined});
  EXPECT_EQ(meet(defined, maybe_undefined, Mode::Find, false), defined);
}

TEST_F(MeetByTokens, PredicatesStandInWordsAndPacks) {
  const auto in_byte = [&](Value p) { return v.word({v.byte(leaf, 0), p, v.byte(leaf, 2), v.byte(leaf, 3)}); };
  const auto in_pack = [&](Value p) {
    std::array<Value, 8> bits{};
    for (std::uint32_t k = 0; k < 8; ++k) bits[k] = v.bit(v.byte(leaf, 1), k);
    bits[5] = p;
    return in_byte(v.packed(bits));
  };
  meet.note_predicates_in(in_byte(t), in_byte(predicate + 4));
  EXPECT_EQ(choose(v.gate(predicate + 4, leaf, x)), std::vector{t});
  meet.begin(1, false);
  meet.note_predicates_in(in_pack(t), in_pack(predicate + 4));
  EXPECT_EQ(choose(v.gate(predicate + 4, leaf, x)), std::vector{t});
  meet.begin(1, false);
  meet.note_predicates_in(x, leaf);
  EXPECT_EQ(meet(v.byte(x, 0), v.byte(leaf, 0), Mode::Find, false), kBottom) << "bytes of words are none";
}

// A predicate that was defined under a guard is a choice itself, and meets by the other tokens first.
TEST_F(MeetByTokens, APredicateMayBeAChoice) {
  const Value guarded = v.gate(t, u, y), choice = v.gate(guarded, leaf + 2, x);
  meet.note_predicate(guarded, guarded);
  meet.note_predicate(t, t);
  meet.note_predicate(u, u);
  meet.note_predicate(y, y);
  EXPECT_EQ(choose(choice), std::vector{guarded});
  ASSERT_EQ(meet(x, x, Mode::Number, true), x);
  EXPECT_EQ(v.where(meet(x, choice, Mode::Number, true), guarded, false), x);
  // The other tokens decide its number, also where it was noted before them.
  meet.begin(1, false);
  meet.note_predicate(guarded, u);
  meet.note_predicate(t, predicate + 4);
  EXPECT_EQ(choose(v.gate(predicate + 4, leaf, x)), std::vector{t});
  EXPECT_EQ(v.where(meet(guarded, u, Mode::Find, false), t, true), u);
  // The innermost first.
  const Value outer = v.gate(guarded, u, y);
  meet.begin(1, false);
  for (const Value p : {outer, guarded, t, u}) meet.note_predicate(p, p);
  meet.note_predicate(y, y);
  EXPECT_EQ(choose(v.gate(outer, leaf, v.gate(guarded, leaf + 1, x))), (std::vector{guarded, outer}));
  // On one side alone: it has a number of its own.
  meet.begin(1, false);
  meet.note_predicate(guarded, predicate + 5);
  const std::vector<Value> chosen = choose(v.gate(predicate + 5, leaf + 2, x));
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0], meet(guarded, predicate + 5, Mode::Find, false));
}

}  // namespace
}  // namespace regduel::oracles::symbolic
