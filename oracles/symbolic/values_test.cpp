// The values of the symbolic judge by themselves: what is equal, what is satisfied by what, what shows of a value.
#include "oracles/symbolic/values.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::oracles {
namespace {

TEST(SymbolicValuesTest, WhatIsTakenApartAndPutTogetherIsTheSame) {
  Values v;
  const Value w = v.add_leaves(ValueKind::Def, 0), u = v.add_leaves(ValueKind::Def, 1);
  EXPECT_EQ(v.word({v.byte(w, 0), v.byte(w, 1), v.byte(w, 2), v.byte(w, 3)}), w);
  const Value mixed = v.word({v.byte(w, 0), v.byte(u, 1), v.byte(w, 2), v.byte(w, 3)});
  EXPECT_NE(mixed, w);
  EXPECT_EQ(v.byte(mixed, 1), v.byte(u, 1));
  std::array<Value, 8> bits{};
  for (std::uint32_t k = 0; k < 8; ++k) bits[k] = v.bit(v.byte(w, 0), k);
  EXPECT_EQ(v.packed(bits), v.byte(w, 0));
  bits[3] = u;
  EXPECT_EQ(v.bit(v.packed(bits), 3), u);
}

TEST(SymbolicValuesTest, GatesOnOneTokenCollapse) {
  Values v;
  const Value t = v.add_leaves(ValueKind::Def, 0), x = v.add_leaves(ValueKind::Def, 1), y = v.add_leaves(ValueKind::Def, 2),
              z = v.add_leaves(ValueKind::Def, 3), s = v.add_leaves(ValueKind::Def, 4);
  EXPECT_EQ(v.gate(t, x, x), x);
  EXPECT_EQ(v.gate(t, v.gate(t, x, y), z), v.gate(t, x, z));
  EXPECT_EQ(v.gate(t, x, v.gate(t, y, z)), v.gate(t, x, z));
  EXPECT_EQ(v.gate(t, v.gate(s, x, y), z), v.gate(s, v.gate(t, x, z), v.gate(t, y, z)));
  EXPECT_EQ(v.where(v.gate(s, v.gate(t, x, y), z), t, false), v.gate(s, y, z));
  EXPECT_TRUE(v.satisfies(v.gate(t, x, y), v.gate(t, x, kTop)));
  EXPECT_FALSE(v.satisfies(v.gate(t, x, y), v.gate(t, kTop, z)));
  EXPECT_TRUE(v.satisfies(x, v.gate(t, x, kTop)));
  EXPECT_FALSE(v.satisfies(v.gate(s, x, y), v.gate(t, x, kTop)));
}

TEST(SymbolicValuesTest, AMaybeUndefinedNameIsSatisfiedByAnyOfItsMembers) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 1), y = v.add_leaves(ValueKind::Def, 2), z = v.add_leaves(ValueKind::Def, 3);
  const Value either = v.one_of({y, x, y});
  EXPECT_EQ(either, v.one_of({x, y}));
  EXPECT_TRUE(v.satisfies(x, either) && v.satisfies(y, either));
  EXPECT_FALSE(v.satisfies(z, either));
  EXPECT_FALSE(v.satisfies(kBottom, either));
  EXPECT_TRUE(v.satisfies(kBottom, kTop));
  EXPECT_TRUE(v.satisfies_bytes(v.word({v.byte(x, 0), v.byte(x, 1), kBottom, kBottom}), either, 0x3));
  EXPECT_FALSE(v.satisfies_bytes(v.word({v.byte(x, 0), v.byte(x, 1), kBottom, kBottom}), either, 0x7));
}

// The members of a set have an order of their own, so what they are where a token holds is asked for below any gate.
TEST(SymbolicValuesTest, GatesInASetAreLookedIntoBelowOtherGates) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 0, 4), low = v.add_leaves(ValueKind::Def, 1), high = v.add_leaves(ValueKind::Def, 2);
  const Value set = v.one_of({v.gate(high, x, x + 1), x + 2});
  EXPECT_EQ(v.where(v.gate(low, set, x + 3), high, true), v.gate(low, v.one_of({x, x + 2}), x + 3));
  EXPECT_EQ(v.where(v.gate(low, set, x + 3), high, false), v.gate(low, v.one_of({x + 1, x + 2}), x + 3));
}

// On the other side of the token nothing of the set is chosen by it.
TEST(SymbolicValuesTest, GatesInASetBelowAGateOfTheirTokenAreDecided) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 0, 3), token = v.add_leaves(ValueKind::Def, 1);
  const Value set = v.one_of({v.gate(token, x, kTop)});
  EXPECT_EQ(v.gate(token, kTop, set), kTop);
  EXPECT_EQ(v.gate(token, set, x + 1), v.gate(token, v.one_of({x}), x + 1));
  const Value bytes = v.word({v.byte(x, 0), v.byte(x, 1), v.byte(set, 2), v.byte(set, 3)});
  EXPECT_EQ(v.byte(v.gate(token, x + 1, bytes), 2), v.gate(token, v.byte(x + 1, 2), kTop));
}

TEST(SymbolicValuesTest, WhatEverythingSatisfiesAsksForNothing) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 0, 2), token = v.add_leaves(ValueKind::Def, 1);
  EXPECT_TRUE(v.asks_for_nothing(kTop));
  EXPECT_FALSE(v.asks_for_nothing(x));
  EXPECT_FALSE(v.asks_for_nothing(v.gate(token, x, kTop)));
  EXPECT_FALSE(v.asks_for_nothing(v.one_of({x, v.gate(token, x + 1, kTop)})));
  EXPECT_TRUE(v.asks_for_nothing(v.one_of({v.gate(token, kTop, x), v.gate(token, x + 1, kTop)})));
}

// Two places may differ where what they hold is vague; what one of them was seen to hold satisfies the same names, and is one
// thing.
TEST(SymbolicValuesTest, WhatWasSeenIsNoLongerVague) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 0), token = v.add_leaves(ValueKind::Def, 1),
              leaf = v.add_leaves(ValueKind::Opaque, 2), later = v.add_leaves(ValueKind::Opaque, 3);
  EXPECT_EQ(v.seen(x, leaf), x);
  EXPECT_EQ(v.seen(kBottom, leaf), leaf);
  const Value vague = v.byte(v.add_leaf(ValueKind::Merged, 4, true, x, kBottom), 1);
  ASSERT_TRUE(v.is_vague(vague));
  const Value seen = v.seen(vague, leaf);
  EXPECT_FALSE(v.is_vague(seen));
  EXPECT_EQ(v.seen(seen, later), seen);
  EXPECT_NE(v.seen(vague, later), seen);
  for (const Value want : {vague, v.one_of({x, vague}), v.gate(token, vague, kTop)}) EXPECT_TRUE(v.satisfies(seen, want));
  // A set may have it as a member, also under a choice.
  for (const Value want : {v.one_of({x, seen}), v.gate(token, v.one_of({x, seen}), kTop)}) EXPECT_TRUE(v.satisfies(seen, want));
  EXPECT_FALSE(v.satisfies(seen, v.one_of({x, v.seen(vague, later)})));
  EXPECT_FALSE(v.satisfies(vague, v.one_of({x, seen})));
  EXPECT_FALSE(v.satisfies(seen, x));
  EXPECT_FALSE(v.satisfies(seen, v.seen(vague, later)));
  EXPECT_EQ(v.seen(v.gate(token, x, vague), leaf), v.gate(token, x, seen));
  EXPECT_EQ(v.gate(seen, v.gate(seen, x, leaf), later), v.gate(seen, x, later));
}

// Of a pack, bit by bit; bits that hold nothing known stay so.
TEST(SymbolicValuesTest, ThePackThatWasSeenIsNoLongerVagueWhereItHoldsSomething) {
  Values v;
  const Value x = v.byte(v.add_leaves(ValueKind::Def, 0), 0), vague = v.byte(v.add_leaf(ValueKind::Merged, 1, true, x, kBottom), 0),
              leaf = v.opaque(7, 0);
  EXPECT_EQ(v.opaque(7, 0), leaf);
  EXPECT_NE(v.opaque(7, 1), leaf);
  EXPECT_NE(v.opaque(8, 0), leaf);
  const Value byte = v.packed({x, vague, kBottom, kBottom, kBottom, kBottom, kBottom, vague});
  const Value pack = v.word({byte, x, byte, kBottom});
  ASSERT_TRUE(v.is_vague_pack(pack));
  EXPECT_FALSE(v.is_vague_pack(v.word({x, vague, x, x}))) << "no pack";
  EXPECT_FALSE(v.is_vague_pack(v.word({v.packed({x, x, x, x, x, x, x, x}), x, x, x}))) << "not vague";
  const Value seen = v.seen_pack(pack, leaf);
  for (std::uint32_t i = 0; i < 4; ++i)
    for (std::uint32_t k = 0; k < 8; ++k) {
      const Value was = v.bit(v.byte(pack, i), k), is = v.bit(v.byte(seen, i), k);
      EXPECT_EQ(is, was == vague ? v.seen(vague, v.bit(v.byte(leaf, i), k)) : was) << i << ' ' << k;
    }
  EXPECT_EQ(v.byte(seen, 1), x);
  // It satisfies what the pack satisfied, and no more.
  const Value other = v.word({v.packed({x, x, kBottom, kBottom, kBottom, kBottom, kBottom, vague}), x, byte, kBottom});
  EXPECT_TRUE(v.satisfies(seen, pack));
  EXPECT_TRUE(v.satisfies(seen, v.one_of({x, pack})));
  EXPECT_FALSE(v.satisfies(seen, other));
  EXPECT_FALSE(v.satisfies(seen, v.one_of({x, other})));
  EXPECT_FALSE(v.satisfies(pack, seen));
  EXPECT_EQ(v.seen_pack(seen, v.opaque(9, 0)), seen) << "seen before";
}

// Byte by byte: what a narrow name leaves open in its word says nothing of the bytes that it has.
TEST(SymbolicValuesTest, EachByteIsVagueByItself) {
  Values v;
  const Value six = v.add_leaves_of_bytes(ValueKind::Def, 0, 6), four = v.add_leaves_of_bytes(ValueKind::Def, 1, 4),
              token = v.add_leaves(ValueKind::Def, 2);
  EXPECT_EQ(v.vague_bytes(six), 0);
  EXPECT_EQ(v.vague_bytes(six + 1), 0b1100);
  EXPECT_EQ(v.vague_bytes(four), 0);
  EXPECT_EQ(v.vague_bytes(kBottom), 0xF);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(v.vague_bytes(v.byte(six + 1, i)), i < 2 ? 0 : 0xF) << i;
  EXPECT_EQ(v.vague_bytes(v.bit(v.byte(six + 1, 1), 7)), 0);
  EXPECT_EQ(v.vague_bytes(v.bit(v.byte(six + 1, 2), 0)), 0xF);
  const Value low = v.byte(six + 1, 0), high = v.byte(six + 1, 3);
  EXPECT_EQ(v.vague_bytes(v.word({low, low, v.byte(four, 0), low})), 0);
  EXPECT_EQ(v.vague_bytes(v.word({low, high, v.byte(four, 0), kBottom})), 0b1010);
  EXPECT_EQ(v.vague_bytes(v.gate(token, four, six + 1)), 0b1100);
  EXPECT_EQ(v.vague_bytes(v.one_of({four, six + 1})), 0b1100);
  EXPECT_EQ(v.vague_bytes(v.gate(high, four, six)), 0xF) << "which of them it is may differ";
  const Value both = v.add_leaf(ValueKind::Merged, 3, false, v.word({v.byte(four, 0), high, low, low}), six + 1);
  EXPECT_EQ(v.vague_bytes(both), 0b1110);
  EXPECT_TRUE(v.inherits(both, both, six + 1));
  EXPECT_FALSE(v.inherits(both, both, kBottom));
}

// No, but it may be: something was cut away, or there was too much to look at. Each answer by itself.
TEST(SymbolicValuesTest, AnAnswerSaysWhetherItIsSure) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 0), y = v.add_leaves(ValueKind::Def, 1), t = v.add_leaves(ValueKind::Def, 2),
              cut = v.unknown_member();
  const Value members = v.add_leaves(ValueKind::Def, 3, 5000);
  std::vector<Value> list;
  for (std::uint32_t k = 0; k < 5000; ++k) list.push_back(v.gate(t, x, members + k));
  const Value large = v.one_of(std::move(list));
  const auto is_unsure = [&](Value have, Value want) {
    EXPECT_FALSE(v.satisfies(have, want));
    return v.is_unsure();
  };
  EXPECT_FALSE(is_unsure(x, y));
  EXPECT_TRUE(is_unsure(x, cut));
  EXPECT_TRUE(is_unsure(cut, x));
  EXPECT_FALSE(is_unsure(v.gate(t, x, y), v.gate(t, y, x)));
  EXPECT_TRUE(is_unsure(v.gate(t, x, y), v.gate(t, x, cut)));
  EXPECT_FALSE(is_unsure(v.gate(t, x, y), x));
  EXPECT_TRUE(is_unsure(x, large));
  EXPECT_FALSE(is_unsure(x, y));
}

TEST(SymbolicValuesTest, LongChainsOfGatesAreStillToldApart) {
  Values v;
  Value a = v.add_leaves(ValueKind::Def, 0), b = a;
  const Value x = v.add_leaves(ValueKind::Def, 1, 200), t = v.add_leaves(ValueKind::Def, 2, 200);
  for (std::uint32_t k = 0; k < 200; ++k) {
    a = v.gate(t + k, x + k, a);
    b = v.gate(t + k, k == 0 ? x + 1 : x + k, b);
    EXPECT_LE(v.depth(a), Values::kMaxDepth);
  }
  EXPECT_FALSE(v.satisfies(a, b));
  EXPECT_TRUE(v.satisfies(a, a));
}

TEST(SymbolicValuesTest, WhatAValueIsMadeOfShows) {
  Values v;
  const Value t = v.add_leaves(ValueKind::Def, 0), x = v.add_leaves(ValueKind::Def, 1), y = v.add_leaves(ValueKind::Def, 2),
              u = v.add_leaves(ValueKind::Merged, 3, 1, true);
  EXPECT_TRUE(v.is_undefined(u) && v.is_undefined(kBottom) && !v.is_undefined(x));
  const Value g = v.gate(t, x, y), byte = v.gate(t, v.byte(x, 0), v.byte(y, 0));
  EXPECT_EQ(v.depth(g), 1);
  EXPECT_TRUE(v.is_undefined(v.gate(t, x, u)) && v.is_undefined(v.gate(u, x, y)) && !v.is_undefined(g));
  EXPECT_TRUE(v.may_be_undefined(v.gate(t, kTop, x)) && !v.may_be_undefined(g));
  // Of words put together, of packs, of sets.
  const Value w = v.word({byte, v.byte(x, 0), v.byte(x, 0), kTop});
  EXPECT_TRUE(v.is_gated(w) && v.may_be_undefined(w) && v.depth(w) == 1);
  const Value p = v.packed({byte, kTop, u, x, x, x, x, x});
  EXPECT_TRUE(v.is_gated(p) && v.may_be_undefined(p) && v.is_undefined(p) && v.has_packs(p) && v.depth(p) == 1);
  const Value one = v.one_of({g, u});
  EXPECT_TRUE(v.is_gated(one) && v.may_be_undefined(one) && v.is_undefined(one) && v.depth(one) == 1);
  EXPECT_TRUE(v.has_packs(v.gate(t, p, x)) && !v.has_packs(g));
  // A pack is no bit of another.
  EXPECT_EQ(v.bit(v.packed({p, x, x, x, x, x, x, x}), 0), kBottom);
  EXPECT_EQ(v.bit(v.packed({one, x, x, x, x, x, x, x}), 0), kBottom);
}

TEST(SymbolicValuesTest, AGateGoesThroughWhatItStandsIn) {
  Values v;
  const Value t = v.add_leaves(ValueKind::Def, 0), x = v.add_leaves(ValueKind::Def, 1), y = v.add_leaves(ValueKind::Def, 2);
  const Value g = v.gate(t, x, y);
  EXPECT_EQ(v.word({v.byte(g, 0), v.byte(g, 1), v.byte(g, 2), v.byte(g, 3)}), g);
  const Value mixed = v.word({v.byte(g, 0), v.byte(x, 1), v.byte(x, 2), v.byte(x, 3)});
  EXPECT_EQ(v.where(mixed, t, true), x);
  EXPECT_EQ(v.byte(v.where(mixed, t, false), 0), v.byte(y, 0));
  const Value z = v.add_leaves(ValueKind::Def, 3);
  EXPECT_EQ(v.where(v.one_of({g, z}), t, false), v.one_of({y, z}));
  EXPECT_EQ(v.byte(v.one_of({x, z}), 2), v.one_of({v.byte(x, 2), v.byte(z, 2)}));
}

// What is said at a glance is what is found by going through the bytes.
TEST(SymbolicValuesTest, SettledValuesSatisfyThemselvesAlone) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 0, 3), t = v.add_leaves(ValueKind::Def, 1);
  const Value bits = v.packed({v.bit(v.byte(x, 0), 3), t, kBottom, kBottom, kBottom, kBottom, kBottom, kBottom});
  const auto mix = [&](Value p, Value q) { return v.word({v.byte(p, 0), v.byte(q, 1), v.byte(p, 2), v.byte(q, 3)}); };
  const std::vector<Value> settled = {kBottom,
                                      x,
                                      x + 1,
                                      x + 2,
                                      mix(x, x + 1),
                                      mix(x + 1, x),
                                      mix(x, kBottom),
                                      mix(x + 1, kBottom),
                                      v.word({bits, kBottom, kBottom, kBottom})};
  const auto has_bytes_of = [&](Value have, std::initializer_list<Value> members) {
    for (std::uint32_t i = 0; i < 4; ++i)
      if (std::none_of(members.begin(), members.end(), [&](Value m) { return v.byte(have, i) == v.byte(m, i); })) return false;
    return true;
  };
  for (const Value have : settled) {
    EXPECT_TRUE(v.is_settled(have));
    for (const Value a : settled) {
      EXPECT_EQ(v.satisfies(have, a), has_bytes_of(have, {a}));
      EXPECT_EQ(v.satisfies(have, v.one_of({a})), has_bytes_of(have, {a}));
      for (const Value b : settled) {
        const bool is_one = has_bytes_of(have, {a}) || has_bytes_of(have, {b});
        const bool is_mix = v[have].kind == ValueKind::Word && has_bytes_of(have, {a, b});
        EXPECT_EQ(v.satisfies(have, v.one_of({a, b})), is_one || is_mix) << have << ' ' << a << ' ' << b;
      }
    }
  }
  EXPECT_FALSE(v.is_settled(v.gate(t, x, x + 1)) || v.is_settled(v.one_of({x})) || v.is_settled(mix(x, kTop)));
  EXPECT_TRUE(v.satisfies(v.gate(t, x, x + 1), v.one_of({x, x + 1})));
}

TEST(SymbolicValuesTest, BytesOfGatesAndSetsAreFoundAgain) {
  Values v;
  const Value t = v.add_leaves(ValueKind::Def, 0), x = v.add_leaves(ValueKind::Def, 1, 300);
  for (int time = 0; time < 2; ++time)
    for (Value k = x; k + 1 < x + 300; ++k) {
      const Value gate = v.gate(t, k, k + 1), set = v.one_of({k, gate}), one = v.one_of({gate});
      for (std::uint32_t i = 0; i < 4; ++i) {
        const Value byte = v.gate(t, v.byte(k, i), v.byte(k + 1, i));
        ASSERT_EQ(v.byte(gate, i), byte);
        ASSERT_EQ(v.byte(set, i), v.one_of({v.byte(k, i), byte}));
        ASSERT_EQ(v.byte(one, i), v.one_of({byte}));
        ASSERT_EQ(v.bytes(set)[i], v.byte(set, i));
        ASSERT_EQ(v.bytes(k)[i], v.byte(k, i));
      }
    }
  const Value word = v.word({v.byte(x, 1), v.byte(x, 1), kBottom, kTop});
  EXPECT_EQ(v.bytes(word), (std::array<Value, 4>{v.byte(x, 1), v.byte(x, 1), kBottom, kTop}));
  EXPECT_EQ(v.bytes(kTop), (std::array<Value, 4>{kTop, kTop, kTop, kTop}));
}

TEST(SymbolicValuesTest, ManyValuesAreFoundAgain) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 0, 5000);
  std::vector<Value> bits;
  for (Value k = 0; k < 5000; ++k) bits.push_back(v.bit(x + k, 3));
  const std::size_t size = v.size();
  for (Value k = 0; k < 5000; ++k) ASSERT_EQ(v.bit(x + k, 3), bits[k]);
  EXPECT_EQ(v.size(), size);
}

TEST(SymbolicValuesTest, ASharedDiagramIsGoneThroughOnce) {
  // x[k] and y[k] are made of both of the level below, so there are 2^k ways down and only 2k values.
  Values v;
  const Value s = v.add_leaves(ValueKind::Def, 0), t = v.add_leaves(ValueKind::Def, 1, 20);
  Value x = v.add_leaves(ValueKind::Def, 2), y = v.add_leaves(ValueKind::Def, 3);
  Value a = v.gate(s, x, y), b = v.gate(s, y, x);
  for (Value k = 0; k < 20; ++k) {
    const Value up = v.gate(t + k, x, y), down = v.gate(t + k, y, x), left = v.gate(t + k, a, b), right = v.gate(t + k, b, a);
    x = up;
    y = down;
    a = left;
    b = right;
  }
  EXPECT_EQ(v.gate(s, x, y), a);
}

TEST(SymbolicValuesTest, QuestionsAboutASharedDiagramAreAnsweredOnce) {
  // As above, with leaves that a name has and that a location holds: each level of one is asked about with its own of the other.
  Values v;
  const Value s = v.add_leaves(ValueKind::Def, 0), t = v.add_leaves(ValueKind::Def, 1, 60);
  Value x = v.add_leaves(ValueKind::Def, 2), y = v.add_leaves(ValueKind::Def, 3), z = v.add_leaves(ValueKind::Def, 4);
  Value want_x = v.one_of({x, z}), want_y = v.one_of({y, z});
  const Value below = v.gate(s, x, y);
  for (Value k = 0; k < 60; ++k) {
    const Value up = v.gate(t + k, x, y), want_up = v.gate(t + k, want_x, want_y);
    y = v.gate(t + k, y, x);
    want_y = v.gate(t + k, want_y, want_x);
    x = up;
    want_x = want_up;
  }
  EXPECT_TRUE(v.satisfies(x, want_x));
  EXPECT_TRUE(v.satisfies(y, want_y));
  EXPECT_FALSE(v.satisfies(below, want_x));
  EXPECT_FALSE(v.satisfies(x, want_y));
  EXPECT_FALSE(v.is_unsure());
  const Value mixed = v.gate(s, x, y);
  EXPECT_EQ(v.where(mixed, s, true), x);
  EXPECT_EQ(v.where(mixed, s, false), y);
  // The lowest token is far below the others.
  EXPECT_NE(v.where(x, t, true), v.where(x, t, false));
  EXPECT_FALSE(v.is_cut(v.where(x, t, true)));
}

TEST(SymbolicValuesTest, SharedPacksAreSeenAndTakenApartOnce) {
  Values v;
  const Value t = v.add_leaves(ValueKind::Def, 1, 60), leaf = v.add_leaves(ValueKind::Opaque, 0, 1, true);
  const Value p = v.byte(v.add_leaves(ValueKind::Def, 2), 0), q = v.byte(v.add_leaves(ValueKind::Def, 3), 0);
  Value x = v.packed({p, kBottom, p, p, p, p, p, p}), y = v.packed({q, kBottom, q, q, q, q, q, q});
  for (Value k = 0; k < 60; ++k) {
    const Value up = v.gate(t + k, x, y);
    y = v.gate(t + k, y, x);
    x = up;
  }
  Value bit_x = p, bit_y = q;
  for (Value k = 0; k < 60; ++k) {
    const Value up = v.gate(t + k, bit_x, bit_y);
    bit_y = v.gate(t + k, bit_y, bit_x);
    bit_x = up;
  }
  EXPECT_EQ(v.bit(x, 0), bit_x);
  EXPECT_EQ(v.bit(x, 1), kBottom);
  EXPECT_TRUE(v.is_vague(x));
  EXPECT_FALSE(v.is_vague(v.seen(x, leaf)));
  EXPECT_EQ(v.asked_by(bit_x), bit_x);
  Value vague_x = p, vague_y = kBottom, asked_x = p, asked_y = kTop;
  for (Value k = 0; k < 60; ++k) {
    const Value up = v.gate(t + k, vague_x, vague_y), asked_up = v.gate(t + k, asked_x, asked_y);
    vague_y = v.gate(t + k, vague_y, vague_x);
    asked_y = v.gate(t + k, asked_y, asked_x);
    vague_x = up;
    asked_x = asked_up;
  }
  EXPECT_EQ(v.asked_by(vague_x), asked_x);
}

// A word of random structure, built in Values and evaluated by itself: what byte i may be for each outcome of the tokens.
struct RandomWord {
  static constexpr std::uint32_t kTokens = 3, kLeaves = 5;
  static constexpr unsigned kJunkBit = 1u << kLeaves, kAnyBit = 2u << kLeaves;
  using Bytes = std::array<unsigned, 4>;  // masks of leaves

  Value value = kBottom;
  std::array<Bytes, 1u << kTokens> contents = {};  // by outcome
  bool is_entangled = false;                       // gates or words in sets: that it is satisfied may go unseen

  [[nodiscard]] bool satisfies(const RandomWord& want) const {
    for (std::size_t o = 0; o < contents.size(); ++o)
      for (std::size_t i = 0; i < 4; ++i)
        if ((want.contents[o][i] & kAnyBit) == 0 &&
            ((contents[o][i] & kJunkBit) != 0 || (contents[o][i] & ~want.contents[o][i]) != 0))
          return false;
    return true;
  }
};

RandomWord random_word(Values& v, Value tokens, Value leaves, Random& random, bool is_name, int depth) {
  using W = RandomWord;
  W w;
  const auto child = [&] {
    W c = random_word(v, tokens, leaves, random, is_name, depth - 1);
    w.is_entangled = w.is_entangled || c.is_entangled;
    return c;
  };
  const std::uint32_t kind = depth == 0 ? 0 : random.below(is_name ? 5 : 4);
  if (kind == 0) {
    const std::uint32_t leaf = random.below(W::kLeaves + 1);
    const bool is_special = leaf == W::kLeaves;
    w.value = !is_special ? leaves + leaf : is_name ? kTop : kBottom;
    w.contents.fill({});
    for (auto& bytes : w.contents) bytes.fill(is_special ? is_name ? W::kAnyBit : W::kJunkBit : 1u << leaf);
  } else if (kind <= 2) {
    const std::uint32_t token = random.below(W::kTokens);
    const W x = child(), y = child();
    w.value = v.gate(tokens + token, x.value, y.value);
    for (std::size_t o = 0; o < w.contents.size(); ++o) w.contents[o] = (o >> token & 1) != 0 ? x.contents[o] : y.contents[o];
  } else if (kind == 3) {
    std::array<Value, 4> bytes = {};
    for (std::uint32_t i = 0; i < 4; ++i) {
      const W x = child();
      bytes[i] = v.byte(x.value, i);
      for (std::size_t o = 0; o < w.contents.size(); ++o) w.contents[o][i] = x.contents[o][i];
    }
    w.value = v.word(bytes);
  } else {
    const W x = child(), y = child();
    w.value = v.one_of({x.value, y.value});
    w.is_entangled = w.is_entangled || v.is_gated(w.value) || v.has_words(w.value);
    for (std::size_t o = 0; o < w.contents.size(); ++o)
      for (std::size_t i = 0; i < 4; ++i) w.contents[o][i] = x.contents[o][i] | y.contents[o][i];
  }
  return w;
}

TEST(SymbolicValuesTest, SatisfactionIsWhatEachOutcomeOfTheTokensSays) {
  Random random(11);
  int satisfied = 0, seen = 0, told_apart = 0;
  for (int round = 0; round < 300; ++round) {
    Values v;
    const Value tokens = v.add_leaves(ValueKind::Def, 0, RandomWord::kTokens),
                leaves = v.add_leaves(ValueKind::Def, 9, RandomWord::kLeaves);
    std::vector<RandomWord> names, held;
    for (int k = 0; k < 12; ++k) {
      const int depth = random.between(0, 3);
      names.push_back(random_word(v, tokens, leaves, random, true, depth));
      held.push_back(random_word(v, tokens, leaves, random, false, depth));
    }
    for (const RandomWord& have : held)
      for (const RandomWord& want : names) {
        const bool truth = have.satisfies(want), told = v.satisfies(have.value, want.value);
        EXPECT_TRUE(truth || !told);
        if (!want.is_entangled) {
          EXPECT_EQ(told, truth);
        }
        EXPECT_TRUE(!truth || v.may_satisfy(have.value, want.value));
        satisfied += truth;
        seen += told;
        told_apart += !v.may_satisfy(have.value, want.value);
      }
  }
  EXPECT_GT(satisfied, 2000);
  EXPECT_GT(seen, satisfied * 8 / 10);
  EXPECT_GT(told_apart, 10000) << "of 43,200";
}

TEST(SymbolicValuesTest, AValueGoesByTheTokensOfItsGates) {
  Values v;
  const Value leaf = v.add_leaves(ValueKind::Def, 0, 8), token = v.add_leaves(ValueKind::Def, 1, 4);
  const Value inner = v.gate(token, leaf, leaf + 1), outer = v.gate(token + 2, leaf + 2, inner);
  EXPECT_TRUE(v.goes_by(outer, token) && v.goes_by(outer, token + 2));
  EXPECT_FALSE(v.goes_by(outer, token + 1) || v.goes_by(outer, token + 3) || v.goes_by(leaf, token));
  EXPECT_FALSE(v.goes_by(v.gate(token + 1, leaf, leaf + 2), token));
  const Value word = v.word({v.byte(leaf, 0), v.byte(inner, 1), v.byte(leaf + 3, 2), v.byte(leaf + 3, 3)});
  EXPECT_TRUE(v.goes_by(word, token));
  EXPECT_FALSE(v.goes_by(word, token + 2));
  EXPECT_TRUE(v.goes_by(v.one_of({leaf + 4, inner}), token));
  EXPECT_TRUE(v.goes_by(v.gate(leaf + 7, v.one_of({leaf + 4, inner}), leaf), token));
  std::array<Value, 8> bits{};
  for (std::uint32_t k = 0; k < 8; ++k) bits[k] = v.bit(v.byte(leaf, 0), k);
  bits[1] = v.gate(token, token + 1, token + 2);
  EXPECT_FALSE(v.goes_by(v.packed(bits), token)) << "its bits are looked at one by one";
  // Shared diagrams are gone through once.
  Value x = leaf, y = leaf + 1;
  const Value many = v.add_leaves(ValueKind::Def, 2, 40);
  for (Value k = 0; k < 40; ++k) {
    const Value up = v.gate(many + k, x, y);
    y = v.gate(many + k, y, x);
    x = up;
  }
  EXPECT_TRUE(v.goes_by(x, many));
  EXPECT_FALSE(v.goes_by(x, many + 40));
  EXPECT_TRUE(v.goes_by(v.gate(v.add_leaves(ValueKind::Def, 3), x, inner), token));
}

}  // namespace
}  // namespace regduel::oracles
