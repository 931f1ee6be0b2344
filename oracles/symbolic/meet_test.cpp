// The equations of meet.h, over random values.
#include "oracles/symbolic/meet.h"

#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::oracles::symbolic {
namespace {

using Mode = Meet::Mode;

// Words: leaves, constants, some put together of pieces of others, some under a guard. Junk is one of them.
std::vector<Value> some_words(Values& v, Random& random) {
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 4), constant = v.add_leaves(ValueKind::Constant, 1, 2),
              token = v.add_leaves(ValueKind::Def, 2, 2);
  std::vector<Value> words = {kJunk, leaf, leaf + 1, leaf + 2, leaf + 3, constant, constant + 1};
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
    for (std::uint32_t block = 0; block < 3; ++block) {
      meet.begin(block, random.chance(50));
      std::map<std::pair<Value, Value>, Value> number;
      std::map<Value, std::pair<Value, Value>> pair_of;
      const auto check = [&](Value a, Value b, bool are_words) {
        const Value n = meet(a, b, Mode::Number, are_words);
        const auto [known, is_new] = number.emplace(std::pair(a, b), n);
        ASSERT_EQ(known->second, n) << "the same pair, the same number";
        const auto [pair, is_first] = pair_of.emplace(n, std::pair(a, b));
        ASSERT_EQ(pair->second, std::pair(a, b)) << "another pair, another number";
        if (a == b && v.is_fixed(a)) {
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
          if (left[i] == kJunk && right[i] == kJunk) continue;
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
  EXPECT_EQ(meet(a + 1, a, Mode::Find, true), kJunk);
  EXPECT_EQ(meet(v.byte(a, 2), v.byte(a + 3, 2), Mode::Find, false), v.byte(numbers[3], 2));
  EXPECT_EQ(meet(v.byte(a, 2), v.byte(a + 3, 1), Mode::Find, false), kJunk);
  EXPECT_EQ(meet(v.bit(v.byte(a, 2), 5), v.bit(v.byte(a + 3, 2), 5), Mode::Find, false), v.bit(v.byte(numbers[3], 2), 5));
  EXPECT_EQ(meet(v.bit(v.byte(a + 1, 2), 5), v.bit(v.byte(a + 3, 2), 5), Mode::Find, false), kJunk);
  EXPECT_EQ(meet(c, c, Mode::Find, true), c);
  meet.begin(1, true);
  for (Value k = 0; k < 40; ++k) EXPECT_EQ(meet(a, a + k, Mode::Find, true), kJunk) << "of another join";
}

TEST(MeetTest, ThePairThatAsksFirstKeepsTheNumberOfItsClass) {
  Values v;
  Meet meet(v);
  const Value a = v.add_leaves(ValueKind::Def, 0, 3);
  meet.begin(4, true);
  const Value old = meet(a, a, Mode::Number, true), loose = meet(a + 1, a + 1, Mode::NumberLoose, true);
  EXPECT_TRUE(v.is_undefined(loose));
  EXPECT_FALSE(v.is_undefined(old));
  meet.begin(4, false);
  EXPECT_EQ(meet(old, a + 1, Mode::Number, true), old);
  const Value other = meet(old, a + 2, Mode::Number, true);
  EXPECT_NE(other, old);
  EXPECT_NE(meet(loose, a, Mode::Number, true), loose) << "one may be undefined, the other may not";
  EXPECT_EQ(meet(loose, a + 1, Mode::NumberLoose, true), loose);
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
  const Value in_part = v.word({v.byte(other, 0), v.byte(other, 1), kJunk, kJunk});
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
  EXPECT_EQ(meet(left, right, Mode::Find, true), kJunk);
  meet.number_tokens(left, right, Meet::Mode::NumberLoose);
  const Value t = meet(token, token + 1, Mode::Find, false);
  ASSERT_NE(t, kJunk);
  EXPECT_EQ(meet(left, right, Mode::Find, true), v.gate(t, x, kJunk));
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

// The same where each choice is made in the upper half, in the bytes of a word, and in what a gate goes by.
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
    SCOPED_TRACE("in a token");
    const Value gate = v.gate(by, leaves, leaves + 1);
    meet.begin(3, true);
    meet.number_tokens(gate, gate, Mode::Number);
    expect_order(meet(by, by, Mode::Find, false));
  }
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

TEST(MeetTest, NowhereStaysNowhere) {
  Values v;
  Meet meet(v);
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 1);
  meet.begin(1, true);
  for (const Mode mode : {Mode::Number, Mode::NumberLoose}) {
    EXPECT_EQ(meet(kNowhere, leaf, mode, true), kNowhere);
    EXPECT_EQ(meet(leaf, kNowhere, mode, true), kNowhere);
    EXPECT_EQ(meet(v.byte(leaf, 2), v.byte(kNowhere, 2), mode, false), v.byte(kNowhere, 2));
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
  EXPECT_NE(v.bit(pack, 4), kJunk);
}

}  // namespace
}  // namespace regduel::oracles::symbolic
