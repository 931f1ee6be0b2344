#include "oracles/memcheck/undefined_guards.h"

#include <string>
#include <string_view>
#include <vector>

#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;
using namespace testing::memcheck;

const std::string kHead = R"(
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 P pred
  vreg %2 P pred
  vreg %3 P pred
  vreg %4 P pred
)";

std::vector<std::uint32_t> undefined_in(std::string_view blocks, std::string_view more_vregs = "") {
  const ir::Function f = parse_function(kHead + std::string(more_vregs) + std::string(blocks));
  std::vector<std::uint32_t> found;
  for (const ir::InstId id : always_under_undefined_guards(f, ir::Cfg(f))) found.push_back(id.value);
  return found;
}
using Ids = std::vector<std::uint32_t>;

TEST(UndefinedGuards, AreThoseThatNothingDefines) {
  EXPECT_EQ(undefined_in(R"(
  block b0
    #0 %1 = p
    #1 @%1 %0 = a
    #2 @%2 %0 = b
    #3 @%1 %2 = q
    #4 @%2 %0 = c
    #5 @%3 %1 = r
    #6 @%1 %0 = d
    #7 exit
)"),
            (Ids{2, 5, 6}));
  EXPECT_EQ(undefined_in("  block b0\n    #0 @%5 %0 = a\n    #1 exit\n", "  vreg %5 P pred fixed P6 architectural\n"), Ids{});
}

TEST(UndefinedGuards, ACopyDefinesWhatItsUseIs) {
  EXPECT_EQ(undefined_in(R"(
  block b0
    #0 %1 = p
    #1 %2, %1 = copy %1, %2
    #2 @%1 %0 = a
    #3 @%2 %0 = b
    #4 @%1 %2, %3 = copy %1, %2
    #5 @%2 %0 = c
    #6 @%3 %0 = d
    #7 exit
)"),
            (Ids{2, 4, 5, 6}));
  // Where the guard is undefined, a copy of what the def may hold anyhow changes nothing.
  EXPECT_EQ(undefined_in(R"(
  block b0
    #0 %1 = p
    #1 %2 = copy %1
    #2 @%3 %2, %1 = copy %1, %2
    #3 @%2 %0 = a
    #4 @%1 %0 = b
    #5 exit
)"),
            Ids{2});
}

// A predicate that only instructions under itself or another such one write is undefined, round after round.
const Pair kRoundAfterRound = {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2..%4 P pred
  block b0
    #0 %0 = a                     | R0 = a
    #1 %1 = b                     | R1 = b
    #2 %3 = p                     | P1 = p
    #3 bra -> b1
  block b1
    #4 @%2 %2, %3 = copy %3, %2   | @P0 P0, P1 = copy P1, P0
    #5 @%3 %0 = copy %1           | @P1 R2 = copy R1
    #6 cbra %4 -> b1, b2          | cbra P2 -> b1, b2
  block b2
    #7 use %0, %1                 | use R0, R1
    #8 exit
)")};

TEST(UndefinedGuards, StayUndefinedInALoop) {
  EXPECT_EQ(undefined_in(R"(
  block b0
    #0 %3 = p
    #1 bra -> b1
  block b1
    #2 @%1 %1 = copy %3
    #3 @%2 %2, %4 = copy %4, %2
    #4 cbra %3 -> b1, b2
  block b2
    #5 exit
)"),
            (Ids{2, 3}));
  EXPECT_EQ(undefined_in(R"(
  block b0
    #0 %3 = p
    #1 bra -> b1
  block b1
    #5 %1 = phi b0: %2, b1: %4
    #2 @%1 %0 = a
    #3 @%3 %4 = copy %3
    #4 cbra %3 -> b1, b2
  block b2
    #6 exit
)"),
            Ids{});
  // A phi whose uses are undefined takes away what an earlier turn put into its def.
  EXPECT_EQ(undefined_in(R"(
  block b0
    #0 %3 = p
    #1 bra -> b1
  block b1
    #5 %1 = phi b0: %2, b1: %2
    #2 @%1 %0 = a
    #3 %1 = q
    #4 cbra %3 -> b1, b2
  block b2
    #6 exit
)"),
            Ids{2});
}

TEST(UndefinedGuards, ComeInAscendingOrder) {
  EXPECT_EQ(undefined_in(R"(
  block b0
    #4 @%1 %0 = a
    #2 @%1 %0 = b
    #3 exit
)"),
            (Ids{2, 4}));
}

TEST(Memcheck, AGuardThatOnlyCopiesUnderItselfWriteAsksForNothing) {
  expect_pass(kRoundAfterRound);
  EXPECT_EQ(judge(with(kRoundAfterRound, "#7 use R0, R1", "#7 use R0, R0")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(kRoundAfterRound, "#5 @P1 R2 = copy R1", "#5 @P1 R1 = copy R0")).verdict, Verdict::Fail);
}

}  // namespace
}  // namespace regduel::oracles
