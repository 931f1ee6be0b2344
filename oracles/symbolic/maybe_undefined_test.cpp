// A name that is undefined on some path, against its formula: the search by PairList finds what a look at all held pairs finds.
#include "oracles/symbolic/maybe_undefined.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "oracles/symbolic/plan.h"

namespace regduel::oracles::symbolic {
namespace {

TEST(MaybeUndefinedTest, IsSatisfiedByThePairsThatSatisfyItOnBothSides) {
  int num_found = 0, num_missed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Values v;
    Meet meet(v);
    MaybeUndefinedName name_meet(v, meet);
    const Value leaf = v.add_leaves(ValueKind::Def, 0, 5);
    const auto any_leaf = [&] { return leaf + random.below(5); };
    std::vector<HeldPair> held;
    for (std::uint32_t l = 0; l < 12; ++l) {
      const Value x = random.chance(10) ? kBottom : any_leaf(), y = random.chance(10) ? kBottom : any_leaf();
      held.push_back({.location = l, .a = x, .b = y});
    }
    // Top, one of two, or defined after all; on one side or both.
    const auto any_name = [&] {
      return random.chance(40) ? kTop : random.chance(50) ? v.one_of({any_leaf(), any_leaf()}) : any_leaf();
    };
    std::vector<std::pair<Value, Value>> names;
    for (int k = 0; k < 6; ++k) {
      const Value a = any_name(), b = any_name();
      if (a == kTop && b == kTop) continue;
      names.emplace_back(a, b);
    }
    meet.begin(1, true);
    name_meet.begin(held, false);
    for (const auto& [a, b] : names) {
      const Value name = name_meet.meet(a, b, 0xF);
      EXPECT_TRUE(v.may_be_undefined(name) || std::none_of(held.begin(), held.end(), [&](const HeldPair& h) {
                    return v.satisfies(h.a, a) && v.satisfies(h.b, b);
                  }));
      for (const HeldPair& h : held) {
        const bool expected = v.satisfies(h.a, a) && v.satisfies(h.b, b);
        ASSERT_EQ(v.satisfies(meet(h.a, h.b, Meet::Mode::Find, true), name), expected) << "seed " << seed;
        ++(expected ? num_found : num_missed);
      }
    }
  }
  EXPECT_GT(num_found, 1000);
  EXPECT_GT(num_missed, 1000);
}

TEST(MaybeUndefinedTest, AConstantNeedBeNowhereYet) {
  Values v;
  Meet meet(v);
  MaybeUndefinedName name_meet(v, meet);
  const Value constant = v.add_leaves(ValueKind::Constant, 0), leaf = v.add_leaves(ValueKind::Def, 1);
  meet.begin(1, true);
  name_meet.begin({}, false);
  EXPECT_TRUE(v.satisfies(constant, name_meet.meet(constant, kTop, 0xF)));
  EXPECT_TRUE(v.satisfies(constant, name_meet.meet(kTop, v.one_of({leaf, constant}), 0xF)));
  EXPECT_FALSE(v.satisfies(constant, name_meet.meet(constant, leaf, 0xF)));
  EXPECT_TRUE(v.satisfies(v.byte(constant, 2), name_meet.meet(v.byte(constant, 2), kTop, kOneByte)));
  const Value token = v.add_leaves(ValueKind::Def, 2);
  EXPECT_TRUE(v.satisfies(constant, name_meet.meet(v.gate(token, constant, kTop), kTop, 0xF)));
  // A definition that no location holds satisfies it nowhere.
  EXPECT_FALSE(v.satisfies(leaf, name_meet.meet(leaf, kTop, 0xF)));
}

TEST(MaybeUndefinedTest, IsAskedForByteByByteWhereWordsAreInPieces) {
  Values v;
  Meet meet(v);
  MaybeUndefinedName name_meet(v, meet);
  const Value x = v.add_leaves(ValueKind::Def, 0), y = v.add_leaves(ValueKind::Def, 1);
  const Value mixed = v.word({v.byte(x, 0), v.byte(x, 1), v.byte(y, 2), v.byte(y, 3)});
  const std::vector<HeldPair> held = {{.location = 0, .a = mixed, .b = mixed}, {.location = 1, .a = y, .b = y}};
  meet.begin(1, true);
  name_meet.begin(held, true);
  // The upper half of y alone is asked for: both locations hold it.
  const Value upper = name_meet.meet(v.word({kTop, kTop, v.byte(y, 2), v.byte(y, 3)}), kTop, 0xF);
  const Value whole = name_meet.meet(y, kTop, 0xF);
  const Value at_mixed = meet(mixed, mixed, Meet::Mode::Find, true), at_y = meet(y, y, Meet::Mode::Find, true);
  EXPECT_TRUE(v.satisfies(at_mixed, upper) && v.satisfies(at_y, upper));
  EXPECT_FALSE(v.satisfies(at_mixed, whole));
  EXPECT_TRUE(v.satisfies(at_y, whole));
  // Of a narrow name, only its bytes count.
  const Value narrow = name_meet.meet(x, kTop, 0x3);
  EXPECT_TRUE(v.satisfies_bytes(at_mixed, narrow, 0x3));
  EXPECT_FALSE(v.satisfies_bytes(at_y, narrow, 0x3));
}

// Whether a location satisfies a name that was cut cannot be seen: what fails later is undecided. Of the name at hand alone.
TEST(MaybeUndefinedTest, IsUndecidedWhereItIsTooEntangled) {
  Values v;
  Meet meet(v);
  MaybeUndefinedName name_meet(v, meet);
  const Value x = v.add_leaves(ValueKind::Def, 0), y = v.add_leaves(ValueKind::Def, 1), token = v.add_leaves(ValueKind::Def, 2);
  const Value choice = v.gate(token, x, y), cut = v.gate(token, x, v.unknown_member());
  const std::vector<HeldPair> held = {{.location = 0, .a = x, .b = x}, {.location = 1, .a = choice, .b = choice}};
  meet.begin(1, true);
  name_meet.begin(held, false);
  EXPECT_FALSE(v.is_cut(name_meet.meet(x, kTop, 0xF)));
  EXPECT_TRUE(v.is_cut(name_meet.meet(cut, kTop, 0xF)));
  EXPECT_FALSE(v.is_cut(name_meet.meet(x, kTop, 0xF)));
}

// Whether a name is asked for as a whole because no piece at hand is of its words, or byte by byte, a location satisfies it after
// the join where it did on both sides.
TEST(MaybeUndefinedTest, IsAskedForAsAWholeOnlyWhereThatSaysTheSame) {
  int num_found = 0, num_in_pieces = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    Values v;
    Meet meet(v);
    MaybeUndefinedName name_meet(v, meet);
    const Value leaf = v.add_leaves(ValueKind::Def, 0, 6), token = v.add_leaves(ValueKind::Def, 1);
    const auto any_leaf = [&] { return leaf + random.below(6); };
    const auto any_held = [&]() -> Value {
      if (random.chance(50)) return random.chance(10) ? kBottom : any_leaf();
      const Value x = any_leaf(), y = any_leaf();
      if (random.chance(20)) return v.gate(token, x, y);
      const Value low = random.chance(30) ? v.gate(token, v.byte(x, 0), v.byte(y, 0)) : v.byte(x, 0);
      return v.word({low, v.byte(x, 1), v.byte(y, 2), random.chance(20) ? kBottom : v.byte(y, 3)});
    };
    std::vector<HeldPair> held;
    for (std::uint32_t l = 0; l < 5; ++l) held.push_back({.location = l, .a = any_held(), .b = any_held()});
    const auto any_name = [&]() -> Value {
      if (random.chance(30)) return kTop;
      if (random.chance(20)) return v.gate(token, any_leaf(), kTop);
      return random.chance(50) ? v.one_of({any_leaf()}) : any_leaf();
    };
    struct Name {
      Value a, b, joined;
    };
    std::vector<Name> names;
    for (int k = 0; k < 6; ++k) {
      const Value a = any_name(), b = any_name();
      if (a == kTop && b == kTop) continue;
      names.push_back({a, b, kUnsatisfiable});
    }
    meet.begin(1, true);
    name_meet.begin(held, false);
    for (Name& name : names) name.joined = name_meet.meet(name.a, name.b, 0xF);
    // Locations come after all names.
    for (const Name& name : names) {
      num_in_pieces += v[name.joined].kind == ValueKind::Word ? 1 : 0;
      for (const HeldPair& h : held) {
        const bool expected = v.satisfies(h.a, name.a) && v.satisfies(h.b, name.b);
        ASSERT_EQ(v.satisfies(meet(h.a, h.b, Meet::Mode::Find, true), name.joined), expected) << "seed " << seed;
        num_found += expected ? 1 : 0;
      }
    }
  }
  EXPECT_GT(num_found, 300);
  EXPECT_GT(num_in_pieces, 100);
}

}  // namespace
}  // namespace regduel::oracles::symbolic
