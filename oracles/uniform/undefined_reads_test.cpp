// What the program before may read undefined.

#include "oracles/uniform/undefined_reads.h"

#include "oracles/testing.h"
#include "oracles/uniform/escapes.h"

namespace regduel::oracles::uniform {
namespace {

// Whether the first use of instruction #9 may be undefined. %0 to %3 are the same in all threads.
bool may_be_undefined(const std::string& body) {
  const ir::Function f = testing::parse_function(
      "func @t kernel target sm_90 threads 32\n  vreg %0 UR b32\n  vreg %1 UR b32\n  vreg %2 UR b32\n  vreg %3 UR b32\n  vreg %4 R "
      "b32\n  vreg %5 UR b64\n  vreg %6 P pred\n" +
      body);
  const Before before(f, *ir::find_target(f.target));
  std::vector<char> asked(f.insts.size(), 0);
  const std::uint32_t at = before.ids().find(ir::InstId(9));
  asked[at] = 1;
  const std::vector<char> found = undefined_reads(before, declared_vregs(f), asked);
  const auto ops = f.operands_of(f.insts[at]);
  const auto use = std::ranges::find_if(ops, [](const ir::Operand& op) { return op.role == ir::Role::Use; });
  return found[static_cast<std::size_t>(&*use - f.operands.data())] != 0;
}

TEST(UndefinedReads, ADefOnEachPathDefines) {
  const std::string body = R"(
  block b0
    #0 %6 = a
    #1 cbra %6 -> b1, b2
  block b1
    #2 %0 = a
    #3 bra -> b3
  block b2
    #4 %0 = a
    #5 bra -> b3
  block b3
    #9 %4 = copy %0
    #10 exit
)";
  EXPECT_FALSE(may_be_undefined(body));
  EXPECT_TRUE(may_be_undefined(testing::edit(body, "    #4 %0 = a\n", "")));
  EXPECT_TRUE(may_be_undefined(testing::edit(body, "#4 %0", "#4 @%6 %0")));
  EXPECT_TRUE(may_be_undefined(testing::edit(body, "#4 %0", "#4 %1")));
}

// The high half of %0 is needed by way of the loop alone, when the low half is known to be needed.
TEST(UndefinedReads, WhatALoopNeedsComesToWhatIsNeededAnyway) {
  const std::string body = R"(
  block b0
    #0 %6 = a
    #1 %1 = b
    #2 bra -> b1
  block b1
    #3 cbra %6 -> b2, b3
  block b2
    #4 %1.hi = copy %0.hi
    #5 bra -> b1
  block b3
    #9 use %1.hi, %0.lo
    #10 exit
)";
  EXPECT_TRUE(may_be_undefined(body));
  EXPECT_FALSE(may_be_undefined(testing::edit(body, "#4 %1.hi = copy %0.hi", "#4 nop")));
}

// Nothing is needed where the function begins. %4 may vary, so it counts as undefined.
TEST(UndefinedReads, AMoveFromWhatMayVaryCountsAsUndefined) {
  const std::string body = R"(
  block b0
    #0 %1, %4 = b
    #1 %1 = copy %4
    #9 use %1
    #10 exit
)";
  EXPECT_TRUE(may_be_undefined(body));
  EXPECT_FALSE(may_be_undefined(testing::edit(body, "copy %4", "c %4")));
}

// %3 is undefined at #1, and no longer at #3.
TEST(UndefinedReads, EachMoveIsMadeWhereItStands) {
  const std::string body = R"(
  block b0
    #0 %1, %6 = b
    #1 %2 = copy %3
    #2 %3 = b
    #3 @%6 %1 = copy %3
    #9 use %1, %2
    #10 exit
)";
  EXPECT_FALSE(may_be_undefined(body));
  EXPECT_TRUE(may_be_undefined(testing::edit(body, "use %1, %2", "use %2, %1")));
}

// It is undefined where #8 reads it, and no longer behind its def.
TEST(UndefinedReads, ADefEndsIt) {
  const std::string body = R"(
  block b0
    #8 %1 = copy %0
    #0 %0 = a
    #2 %2 = copy %3
    #3 %3 = copy %0
    #9 %4 = copy %0, %1
    #10 exit
)";
  EXPECT_FALSE(may_be_undefined(testing::edit(body, "copy %0, %1", "use %0, %1")));
  EXPECT_TRUE(may_be_undefined(testing::edit(body, "copy %0, %1", "use %1, %0")));
  EXPECT_FALSE(may_be_undefined(testing::edit(body, "copy %0, %1", "use %3, %1")));
}

TEST(UndefinedReads, MovesHandItOn) {
  const std::string body = R"(
  block b0
    #0 %0 = a
    #1 %1 = a
    #2 %2 = copy %0
    #3 %5 = pack %2, %1
    #4 %3, %2 = unpack %5
    #9 %4 = copy %2
    #10 exit
)";
  EXPECT_FALSE(may_be_undefined(body));
  EXPECT_TRUE(may_be_undefined(testing::edit(body, "    #1 %1 = a\n", "")));
  EXPECT_FALSE(may_be_undefined(testing::edit(body, "    #0 %0 = a\n", "")));
  EXPECT_TRUE(may_be_undefined(testing::edit(testing::edit(body, "    #0 %0 = a\n", ""), "#9 %4 = copy %2", "#9 %4 = copy %3")));
}

TEST(UndefinedReads, ParallelPhisReadWhatWasBefore) {
  const std::string body = R"(
  block b0
    #0 %0 = a
    #1 bra -> b1
  block b1
    #2 %0 = phi b0: %3
    #3 %1 = phi b0: %0
    #9 %4 = copy %1
    #10 exit
)";
  EXPECT_FALSE(may_be_undefined(body));
  EXPECT_TRUE(may_be_undefined(testing::edit(body, "copy %1", "copy %0")));
  EXPECT_TRUE(may_be_undefined(testing::edit(body, "#0 %0", "#0 %3")));
}

TEST(UndefinedReads, WhatIsMovedFromWhatMayVaryCountsAsUndefined) {
  EXPECT_TRUE(may_be_undefined("  block b0\n    #0 %4 = a\n    #1 %0 = copy %4\n    #9 %4 = copy %0\n    #10 exit\n"));
  EXPECT_FALSE(may_be_undefined("  block b0\n    #0 %4 = a\n    #1 %0 = b %4\n    #9 %4 = copy %0\n    #10 exit\n"));
}

}  // namespace
}  // namespace regduel::oracles::uniform
