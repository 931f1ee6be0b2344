// Joins of words, their bytes and predicate packs, on hand-made allocations.

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "oracles/symbolic/join.h"
#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

// A block, a join after it, and what stands there.
Pair joined(std::string vregs, const std::string& before, const std::string& use, const std::string& after,
            const std::string& have) {
  return {up_to_nine(std::move(vregs)), "  block b0\n" + before + R"(
    #90 %9 = p
    #91 cbra %9 -> b1, b2
  block b1
    #92 bra -> b2
  block b2
    #93 use )" + use + " !write\n    #94 exit\n",
          "  block b0\n" + after + R"(
    #90 P6 = p
    #91 cbra P6 -> b1, b2
  block b1
    #92 bra -> b2
  block b2
)" + have};
}

TEST(SymbolicJoinTest, WordsAndTheirPiecesGoOverJoinsTogether) {
  // A half of %0 is a half of %1, which goes over the join as a whole; either may be read in the other's register.
  const auto [before, after] = side_by_side(R"(
    #0 %1 = a             | R1 = a
    #1 %2 = b             | R2 = b
    #2 %0.h0 = copy %1.h0 | R0.h0 = copy R1.h0
    #3 %0.h1 = copy %2.h0 | R0.h1 = copy R2.h0
)");
  const Pair p =
      joined(kThreeR, before, "%1.h0, %2.h0, %0, %1, %2", after, "    #93 use R0.h0, R0.h1, R0, R1, R2 !write\n    #94 exit\n");
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "use R0.h0, R0.h1", "use R0.h1, R0.h0")).verdict, Verdict::Fail);
  // Both halves of %0 are one and the same.
  const Pair twice = joined(kThreeR, R"(
    #0 %1 = a
    #1 %0.h0 = copy %1.h0
    #2 %0.h1 = copy %1.h0
)",
                            "%0.h0, %0.h1, %0", R"(
    #0 R1 = a
    #1 R0.h0 = copy R1.h0
    #2 R0.h1 = copy R1.h0
    +20 R3.h0 = copy R0.h1
)",
                            "    #93 use R3.h0, R3.h0, R0 !write\n    #94 exit\n");
  expect_pass(twice);
  // A narrow name, and the word that it is the lower half of.
  const Pair narrow =
      joined(R"(
  vreg %0 R b32
  vreg %1 R b16
  vreg %2 R b16
)",
             "    #0 %0 = a\n    #1 %1, %2 = unpack %0\n", "%1, %2, %0", "    #0 R0 = a\n    #1 R1, R2 = unpack R0\n",
             R"(
    +20 R3.h0 = copy R0.h0
    +21 R4.h0 = copy R0.h1
    #93 use R3, R4, R0 !write
    #94 exit
)");
  expect_pass(narrow);
  expect_category(with(narrow, "R4.h0 = copy R0.h1", "R4.h0 = copy R0.h0"), kWrong);
}

TEST(SymbolicJoinTest, AWordThatWasPutTogetherIsOneAtALoopHead) {
  const Pair p = joined(kThreeR, R"(
    #0 %1 = a
    #1 %0.h0 = copy %1.h0
    #2 %0.h1 = b
)",
                        "%0", R"(
    #0 R1 = a
    #1 R0.h0 = copy R1.h0
    #2 R0.h1 = b
)",
                        "    #93 use R0 !write\n    #94 exit\n");
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), limits_of(before, 255)});
  ASSERT_TRUE(plan) << plan.error();
  symbolic::State state(*plan);
  for (const symbolic::Step& s : plan->steps_of(0)) state.transfer(s, nullptr);
  symbolic::Joiner joiner(*plan);
  for (const bool is_loop_head : {false, true}) {
    plan->is_loop_head[2] = is_loop_head ? 1 : 0;
    symbolic::Entry entry;
    ASSERT_TRUE(joiner.flow_into(entry, 2, state));
    EXPECT_FALSE(joiner.flow_into(entry, 2, state));
    ASSERT_EQ(entry.names.size(), 1u);
    ASSERT_EQ(entry.locations.size(), 1u);
    EXPECT_EQ(plan->values[entry.names[0]].kind, is_loop_head ? ValueKind::Merged : ValueKind::Word);
    EXPECT_EQ(entry.locations[0].value, entry.names[0]);
  }
}

TEST(SymbolicJoinTest, ManyNamesGoOverAJoin) {
  std::string vregs, before, after, want, have;
  for (int k = 0; k < 200; ++k) {
    vregs += fmt::format("  vreg %{} R b32\n", k);
    before += fmt::format("    #{} %{} = a\n", k, k);
    after += fmt::format("    #{} R{} = a\n", k, k);
    want += fmt::format("    #{} use %{} !write\n", 400 + k, k);
    have += fmt::format("    #{} use R{} !write\n", 400 + k, k);
  }
  vregs += "  vreg %200 P pred\n";
  const Pair p = {vregs, "  block b0\n" + before + R"(
    #300 %200 = p
    #301 cbra %200 -> b1, b2
  block b1
    #302 bra -> b2
  block b2
)" + want + "    #800 exit\n",
                  "  block b0\n" + after + R"(
    #300 P0 = p
    #301 cbra P0 -> b1, b2
  block b1
    #302 bra -> b2
  block b2
)" + have + "    #800 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use R7 ", "use R8 "), kWrong);
}

TEST(SymbolicJoinTest, PacksGoOverJoins) {
  const std::string vregs = R"(
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 P pred
)";
  const Pair p = {vregs, side_by_side(R"(
  block b0
    #0 %0 = p            | P0 = p
    +20                  | R9{inout} = p2r P0
    #1 %2 = q            | P0 = q
    #2 cbra %2 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %1 = r            | P1 = r
    +21                  | R9{inout} = bit_spill P1, 5
    #4 bra -> b3
  block b2
    #5 %1 = s            | P0 = s
    +22                  | R9{inout} = bit_spill P0, 5
    #6 bra -> b3
  block b3
    +23                  | P0 = r2p R9
    +24                  | P2 = bit_refill R9, 5
    #7 use %0, %1 !write | use P0, P2 !write
    #8 exit
)")};
  expect_pass(p);
  expect_category(with(p, "    +22 R9{inout} = bit_spill P0, 5\n", ""), kLost);
}

TEST(SymbolicJoinTest, APackThatIsWrittenUnderAGuardGoesOverJoins) {
  // An inserted p2r under a guard makes each byte of the pack a choice between two packs, which are met bit by bit like any other.
  const Pair p = {side_by_side(R"(
  vreg %0..%2 P pred
  block b0
    #0 %0 = p            | P0 = p
    #1 %1 = q            | P1 = q
    #2 %2 = r            | P2 = r
    +20                  | R9{inout} = p2r P0
    +21                  | @P2 R9{inout} = p2r P1
    #3 cbra %2 -> b1, b2 | cbra P2 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
    +22                  | P3 = r2p R9
    +23                  | P0 = bit_refill R9, 0
    #5 use %0 !write     | use P0 !write
    #6 exit
)")};
  expect_pass(p);
  expect_category(with(p, "bit_refill R9, 0", "bit_refill R9, 1"), kLost);
  expect_category(with(p, "+21 @P2 R9{inout} = p2r P1", "+21 @P2 R9{inout} = bit_spill P1, 0"), kLost);
}

}  // namespace
}  // namespace regduel::oracles
