// Equation (1) of join.h on random states, location by location and name by name; the tokens of a join.

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/random.h"
#include "oracles/symbolic/join.h"
#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

// What is live at the join of a diamond: ten names, one of them narrow, a pair, two predicates, and a register for each.
Pair ten_names() {
  const std::string start = "  block b0\n", fork = "cbra ";
  std::string vregs, before, after, names, registers;
  for (int k = 0; k < 10; ++k) {
    vregs += fmt::format("  vreg %{} {}\n", k,
                         k == 8   ? "P pred"
                         : k == 9 ? "P pred"
                         : k == 7 ? "R b16"
                         : k == 6 ? "R b64"
                                  : "R b32");
    const std::string name = fmt::format("%{}", k), at = k >= 8   ? fmt::format("P{}", k - 8)
                                                         : k == 6 ? "R8:R9"
                                                                  : fmt::format("R{}", k);
    before += fmt::format("    #{} {} = a\n", k, name);
    after += fmt::format("    #{} {} = a\n", k, at);
    names += (k == 0 ? "" : ", ") + name;
    registers += (k == 0 ? "" : ", ") + at;
  }
  const std::string sides = R"( -> b1, b2
  block b1
    #11 bra -> b3
  block b2
    #12 bra -> b3
  block b3
    #13 use )";
  const std::string end = " !write\n    #14 exit\n";
  return {vregs, start + before + "    #10 cbra %8" + sides + names + end,
          start + after + "    #10 cbra P0" + sides + registers + end};
}

// A plan of these, with numbers of its own; what lives at the join, predicates and the others.
struct TenNames {
  static constexpr std::uint32_t kBlock = 3;
  const Pair pair = ten_names();
  const ir::Function before = parse_function(pair.before_text()), after = parse_function(pair.after_text());
  symbolic::Plan plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), limits_of(before, 255)}).value();
  Values& values = plan.values;
  std::vector<std::uint32_t> names, predicate_names, locations, predicates;

  TenNames() {
    for (const std::uint32_t n : plan.live_names[kBlock])
      (plan.bytes_of_name[n] == symbolic::kOneByte ? predicate_names : names).push_back(n);
    for (const std::uint32_t l : plan.live_locations[kBlock]) (plan.is_byte_location[l] != 0 ? predicates : locations).push_back(l);
  }
};

// Numbers of which names and locations are made, each width by itself.
struct Pool {
  std::vector<Value> words, bytes;
};
Pool some_values(Values& v, Random& random, bool with_guards) {
  const Value word = v.add_leaves(ValueKind::Def, 0, 3), constant = v.add_leaves(ValueKind::Constant, 1, 2),
              byte = v.add_leaves(ValueKind::Def, 2, 3);
  Pool pool = {{word, word + 1, word + 2, constant, constant + 1}, {byte, byte + 1, byte + 2}};
  for (int k = 0; k < 2; ++k) {
    std::array<Value, 4> bytes{};
    for (std::uint32_t i = 0; i < 4; ++i) bytes[i] = v.byte(pool.words[random.below(5)], random.chance(80) ? i : random.below(4));
    pool.words.push_back(v.word(bytes));
  }
  std::array<Value, 8> bits{};
  for (std::uint32_t k = 0; k < 8; ++k) bits[k] = v.bit(v.byte(word, 0), k);
  bits[2] = byte;
  pool.words.push_back(v.word({v.packed(bits), v.byte(word, 1), v.byte(word, 2), v.byte(word, 3)}));
  pool.bytes.push_back(v.bit(v.byte(word, 0), 5));
  if (with_guards) {
    pool.words.push_back(v.gate(byte, word, random.chance(50) ? kTop : word + 1));
    pool.bytes.push_back(v.gate(byte + 1, byte, byte + 2));
  }
  return pool;
}

// join(l) satisfies join(n) exactly where l satisfies n on both sides. Under guards it may be too entangled to see.
TEST(SymbolicJoinTest, ALocationHoldsANameWhereItDidOnBothSides) {
  constexpr int kTokens = 8;
  constexpr std::uint32_t kBlock = TenNames::kBlock;
  int num_held = 0, num_lost = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const bool with_guards = seed % 4 == 0;
    TenNames all;
    symbolic::Plan& plan = all.plan;
    Values& values = all.values;
    const auto names = plan.live_names[kBlock], locations = plan.live_locations[kBlock];
    ASSERT_EQ(names.size(), 11u);
    ASSERT_EQ(locations.size(), 11u);
    const Pool pool = some_values(values, random, with_guards);
    const auto draw = [&](bool is_byte, Value otherwise) {
      const std::vector<Value>& from = is_byte ? pool.bytes : pool.words;
      return random.chance(20) ? otherwise : from[random.below(static_cast<std::uint32_t>(from.size()))];
    };
    plan.is_loop_head[kBlock] = seed % 5 < 2 ? 1 : 0;
    symbolic::Joiner joiner(plan, seed % 3 == 0 ? kTokens : 0);
    symbolic::State state(plan), before_it(plan), after_it(plan);
    symbolic::Entry entry;
    for (int visit = 0; visit < 4; ++visit) {
      state.clear();
      for (const std::uint32_t n : names) state.names.set(n, draw(plan.bytes_of_name[n] == symbolic::kOneByte, kTop));
      for (const std::uint32_t l : locations) state.locations.set(l, draw(plan.is_byte_location[l] != 0, kBottom));
      before_it.clear();
      after_it.clear();
      if (entry.is_reached) joiner.load(entry, kBlock, before_it);
      const bool is_first = !entry.is_reached;
      const symbolic::Entry old = entry;
      const bool has_changed = joiner.flow_into(entry, kBlock, state);
      EXPECT_EQ(has_changed, !entry.holds_the_same(old));
      joiner.load(entry, kBlock, after_it);
      for (const std::uint32_t n : names) {
        const bool was_maybe_undefined = !is_first && values.may_be_undefined(before_it.names[n]);
        ASSERT_TRUE(was_maybe_undefined || values.may_be_undefined(state.names[n]) || !values.may_be_undefined(after_it.names[n]));
      }
      for (const std::uint32_t n : names)
        for (const std::uint32_t l : locations) {
          const unsigned bytes = plan.bytes_of_name[n];
          if ((bytes == symbolic::kOneByte) != (plan.is_byte_location[l] != 0)) continue;
          const auto holds = [&](const symbolic::State& s) {
            return values.satisfies_bytes(s.locations[l], s.names[n], bytes == symbolic::kOneByte ? 0xF : bytes);
          };
          const bool expected = holds(state) && (is_first || holds(before_it)), found = holds(after_it);
          ASSERT_TRUE(expected || !found) << "seed " << seed << " visit " << visit << " name " << n << " location " << l;
          if (!with_guards) {
            ASSERT_EQ(expected, found) << "seed " << seed << " visit " << visit << " name " << n << " location " << l;
          }
          ++(expected ? num_held : num_lost);
        }
    }
  }
  EXPECT_GT(num_held, 5000);
  EXPECT_GT(num_lost, 5000);
}

// The same under each outcome of two predicates that are what they were, of a value that is a choice on one side too. Where the two
// are one on a side, that side has no outcome in which they differ. There something may be lost, but nothing is made up.
TEST(SymbolicJoinTest, ALocationHoldsANameUnderAnOutcomeWhereItDidOnBothSides) {
  constexpr std::uint32_t kBlock = TenNames::kBlock;
  int num_held = 0, num_lost = 0, num_held_in_part = 0, num_held_apart = 0, num_lost_apart = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const bool may_be_one = seed % 3 == 0;
    Random random(seed);
    TenNames all;
    symbolic::Plan& plan = all.plan;
    Values& values = all.values;
    const std::vector<std::uint32_t>&names = all.names, &predicate_names = all.predicate_names, &locations = all.locations,
          &predicates = all.predicates;
    ASSERT_EQ(predicates.size(), 2u);
    const Value leaf = values.add_leaves(ValueKind::Def, 0, 4), first_own = values.add_leaves(ValueKind::Def, 1, 2);
    const bool is_loop_head = seed % 2 == 0;
    plan.is_loop_head[kBlock] = is_loop_head ? 1 : 0;
    symbolic::Joiner joiner(plan, 8);
    symbolic::State state(plan), left(plan), joined(plan);
    symbolic::Entry entry;
    for (int visit = 0; visit < 4; ++visit) {
      left.clear();
      if (entry.is_reached) joiner.load(entry, kBlock, left);
      // As they are at the head of the block, where control comes back to it, or as the first way has them; or as one beside it.
      std::array<Value, 2> tokens{};
      const Value own = visit == 0 ? first_own : values.add_leaves(ValueKind::Def, 1, 2);
      const auto same = [&](std::uint32_t k) { return is_loop_head ? left.locations[predicates[k]] : first_own + k; };
      for (std::uint32_t k = 0; k < 2; ++k) tokens[k] = visit > 0 && random.chance(50) ? same(k) : own + k;
      if (may_be_one && random.chance(50)) tokens[1] = tokens[0];
      const auto draw = [&](Value otherwise) -> Value {
        const auto any = [&] { return random.chance(20) ? otherwise : leaf + random.below(4); };
        const Value x = any(), y = any();
        return random.chance(50) ? values.gate(tokens[random.below(2)], x, y) : x;
      };
      state.clear();
      for (std::uint32_t k = 0; k < 2; ++k) {
        if (random.chance(50)) state.names.set(predicate_names[k], tokens[k]);
        state.locations.set(predicates[k], tokens[k]);
      }
      for (const std::uint32_t n : names) state.names.set(n, draw(kTop));
      for (const std::uint32_t l : locations) state.locations.set(l, draw(kBottom));
      const bool is_first = !entry.is_reached;
      (void)joiner.flow_into(entry, kBlock, state);
      joined.clear();
      joiner.load(entry, kBlock, joined);
      if (is_first) continue;
      for (const std::uint32_t n : names)
        for (const std::uint32_t l : locations) {
          int num_outcomes = 0;
          for (unsigned outcome = 0; outcome < 4; ++outcome) {
            const bool differ = outcome == 1 || outcome == 2;
            const auto are_one = [&](const symbolic::State& s) { return s.locations[predicates[0]] == s.locations[predicates[1]]; };
            if (differ && are_one(left) && are_one(state)) continue;
            const auto holds = [&](const symbolic::State& s) {
              if (differ && are_one(s)) return true;
              Value have = s.locations[l], want = s.names[n];
              for (std::uint32_t k = 0; k < 2; ++k) {
                have = values.where(have, s.locations[predicates[k]], (outcome >> k & 1) != 0);
                want = values.where(want, s.locations[predicates[k]], (outcome >> k & 1) != 0);
              }
              return values.satisfies_bytes(have, want, plan.bytes_of_name[n]);
            };
            const bool expected = holds(left) && holds(state);
            if (are_one(left) || are_one(state)) {
              ASSERT_TRUE(expected || !holds(joined))
                  << "seed " << seed << " visit " << visit << " name " << n << " location " << l;
              if (expected) ++(holds(joined) ? num_held_apart : num_lost_apart);
              continue;
            }
            ASSERT_EQ(holds(joined), expected) << "seed " << seed << " visit " << visit << " name " << n << " location " << l;
            ++(expected ? num_held : num_lost);
            num_outcomes += expected ? 1 : 0;
          }
          num_held_in_part += num_outcomes == 1 || num_outcomes == 2 ? 1 : 0;
        }
    }
  }
  EXPECT_GT(num_held, 5000);
  EXPECT_GT(num_lost, 5000);
  EXPECT_GT(num_held_in_part, 1000);
  EXPECT_GT(num_held_apart, num_lost_apart);
}

class JoinByTokens : public ::testing::Test, protected TenNames {
 protected:
  const Value leaf = values.add_leaves(ValueKind::Def, 0, 4), tokens = values.add_leaves(ValueKind::Def, 1, 2);
};

// A choice that a location alone holds lives on, by a predicate that no name asks for.
TEST_F(JoinByTokens, AChoiceOfALocationLivesOn) {
  symbolic::Joiner joiner(plan);
  symbolic::State state(plan), joined(plan);
  state.names.set(names[0], leaf);
  state.locations.set(predicates[1], tokens);
  state.locations.set(locations[0], values.gate(tokens, leaf, leaf + 1));
  for (const bool is_loop_head : {false, true}) {
    plan.is_loop_head[kBlock] = is_loop_head ? 1 : 0;
    symbolic::Entry entry;
    (void)joiner.flow_into(entry, kBlock, state);
    (void)joiner.flow_into(entry, kBlock, state);
    joined.clear();
    joiner.load(entry, kBlock, joined);
    const Value held = values.where(joined.locations[locations[0]], joined.locations[predicates[1]], true);
    EXPECT_TRUE(values.satisfies(held, joined.names[names[0]]));
  }
}

TEST_F(JoinByTokens, SoManyAreTakenOverAllVisits) {
  symbolic::Joiner joiner(plan, 1);
  symbolic::State state(plan), joined(plan);
  symbolic::Entry entry;
  const auto flow = [&](std::uint32_t predicate, std::uint32_t word) {
    joined.clear();
    if (entry.is_reached) joiner.load(entry, kBlock, joined);
    state.clear();
    for (std::uint32_t k = 0; k < 2; ++k)
      state.locations.set(predicates[k], entry.is_reached ? joined.locations[predicates[k]] : tokens + k);
    const auto value = [&](std::uint32_t at, Value first) { return entry.is_reached ? at : first; };
    state.names.set(names[0], value(joined.names[names[0]], leaf));
    for (std::uint32_t w = 0; w < 3; ++w) state.locations.set(locations[w], value(joined.locations[locations[w]], leaf));
    if (entry.is_reached) {
      const Value choice = values.gate(state.locations[predicates[predicate]], kBottom, state.locations[locations[word]]);
      state.locations.set(locations[word], choice);
    }
    return joiner.flow_into(entry, kBlock, state);
  };
  EXPECT_TRUE(flow(0, 0));
  EXPECT_EQ(entry.num_tokens, 0);
  EXPECT_TRUE(flow(0, 0));
  joined.clear();
  joiner.load(entry, kBlock, joined);
  const Value token = joined.locations[predicates[0]];
  EXPECT_EQ(entry.tokens, std::vector{token});
  EXPECT_EQ(entry.num_tokens, 1);
  EXPECT_EQ(values.token_of(joined.locations[locations[0]]), token);
  // No other one is; this one still is.
  EXPECT_TRUE(flow(1, 1));
  EXPECT_EQ(entry.tokens, std::vector{token});
  EXPECT_EQ(entry.num_tokens, 1);
  joined.clear();
  joiner.load(entry, kBlock, joined);
  EXPECT_EQ(joined.locations[locations[1]], kBottom);
  EXPECT_TRUE(flow(0, 2));
  EXPECT_EQ(entry.tokens, std::vector{token});
  // The first way into another block begins anew.
  symbolic::Entry other;
  EXPECT_TRUE(joiner.flow_into(other, kBlock, state));
  EXPECT_TRUE(other.tokens.empty());
  EXPECT_EQ(other.num_tokens, 0);
}

}  // namespace
}  // namespace regduel::oracles
