#include "reference/program/dead_code.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;

// The instructions of the program, by their numbers, that are dead.
std::vector<std::uint32_t> dead_in(const std::string& body) {
  testing::Phases p(body);
  const std::vector<std::uint8_t> dead = drop_dead_code(p.problem, p.code);
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < dead.size(); ++i)
    if (dead[i] && p.code.insts[i].source != kNoSource) numbers.push_back(p.f.insts[p.code.insts[i].source].id.value);
  return numbers;
}

TEST(DeadCode, CopiesAndWhatOnlyTheyRead) {
  EXPECT_THAT(dead_in(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %0 = const 1 !remat
#1 %1 = copy %0
#2 %2 = copy %1
#3 %1 = ld
#4 %3 = ld
#5 st %1 !write
#6 exit
)"),
              ElementsAre(0, 1));
}

// exact once gave %1 and %2 a register, and called that the fewest.
TEST(DeadCode, CopiesAroundALoopThatReadOnlyEachOther) {
  EXPECT_THAT(dead_in(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1, %2 = copy %0, %0
#2 bra -> b1
block b1
#3 %1, %2 = copy %2, %1
#4 st %0 !write
#5 bra -> b1
)"),
              ElementsAre(1, 3));
}

// What reads %1 beside them is dead itself.
TEST(DeadCode, CopiesOfWhatDeadCodeReads) {
  EXPECT_THAT(dead_in(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = op
#1 %1 = op %0 !remat
#2 bra -> b1
block b1
#3 %0, %1 = copy %0, %1
#4 bra -> b1
)"),
              ElementsAre(1, 3));
}

// The copy into %1 is read in the loop alone, by a guarded def of which no instruction reads anything.
TEST(DeadCode, AGuardedDefKeepsNothingThatIsDeadAfterIt) {
  EXPECT_THAT(dead_in(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = ld
#1 %1 = copy %0
#6 bra -> b1
block b1
#2 %2 = setp %0
#3 @%2 %1 = ld
#4 cbra %2 -> b1, b2
block b2
#5 %1 = ld
#7 st %1 !write
#8 exit
)"),
              ElementsAre(1));
}

}  // namespace
}  // namespace regduel::reference
