#include "reference/program/dead_code.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The instructions of the program, by their numbers, that are dead.
std::vector<std::uint32_t> dead_in(const std::string& body, DeadCopies copies = DeadCopies::Whole) {
  testing::Phases p(body);
  const std::vector<std::uint8_t> dead = drop_dead_code(p.problem, p.code, copies);
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

// Of the moves between %0 and its phi, before both ends of the loop and behind its head, all are dead, though %0 is read before them.
// exact-split once kept it in a register around the loop.
TEST(DeadCode, MovesOfAPhiOfAValueThatIsReadBeforeTheLoop) {
  testing::Phases p(R"(vreg %0 R b32
vreg %1 P pred
block b0
#0 %1 = setp
#1 %0 = ld
#2 st %0 !write
#3 bra -> b1
block b1
#4 %0 = phi b0: %0, b2: %0
#5 cbra %1 -> b2, b3
block b2
#6 bra -> b1
block b3
#7 exit
)");
  const std::vector<std::uint8_t> dead = drop_dead_code(p.problem, p.code);
  EXPECT_EQ(std::ranges::count(dead, kNoneReadsIt), 3);
}

// Of the pair, the half that is written anew is read; the copy wrote the other half.
TEST(DeadCode, ACopyOfAPartThatNoInstructionReads) {
  EXPECT_THAT(dead_in(R"(vreg %0 R b32
vreg %1 R b64
block b0
#0 %0 = ld
#1 %1.hi = copy %0
#2 %1.lo = ld
#3 st %1.lo !write
#4 exit
)"),
              ElementsAre(1));
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

// No path defines %0 before the loop, so nothing comes to %1 and %2 either.
TEST(DeadCode, CopiesOfWhatNoPathDefines) {
  EXPECT_THAT(dead_in(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %3 = ld
#1 bra -> b1
block b1
#2 %1 = copy %0
#3 %2 = copy %1
#4 %1, %2 = copy %2, %3
#5 st %1, %2 !write
#6 bra -> b1
)"),
              ElementsAre(2, 3));
}
// Neither does a copy of a part, nor one under a guard; an architectural register holds something.
TEST(DeadCode, CopiesOfPartsAndUnderGuardsOfWhatNoPathDefines) {
  EXPECT_THAT(dead_in(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
vreg %4 R b32 fixed R254 architectural
block b0
#0 %3 = setp
#1 %0.lo = ld
#2 %1.hi = copy %0.hi
#3 @%3 %2 = copy %1
#4 st %1, %2 !write
#5 %1.hi = copy %0.lo
#6 @%3 %2 = copy %4
#7 st %1, %2 !write
#8 exit
)"),
              ElementsAre(2, 3));
}
// The first round brings nothing to #1, the second one what #2 computes.
TEST(DeadCode, CopiesOfWhatSomePathDefinesStay) {
  EXPECT_THAT(dead_in(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 bra -> b1
block b1
#1 %1 = copy %0
#2 %0 = ld
#3 st %1 !write
#4 bra -> b1
)"),
              IsEmpty());
}
TEST(DeadCode, UndefinedOperandsReadNothing) {
  testing::Phases p(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0.lo = ld
#1 st %0, %0.hi, %1 !write
#2 st %0.hi !write
#3 exit
)");
  drop_dead_code(p.problem, p.code);
  const auto reads = [&](std::size_t inst) {
    std::vector<TempId> temps;
    for (const Ref& r : p.code.refs_of(p.code.insts[inst]))
      if ((r.flags & kReads) != 0) temps.push_back(r.temp);
    return temps;
  };
  EXPECT_THAT(reads(1), ElementsAre(0));
  EXPECT_THAT(reads(2), IsEmpty());
  // Of %0, #1 also reads the half that is defined.
  EXPECT_THAT(undefined_reads(p.code), ElementsAre(std::pair(1u, 1u), std::pair(2u, 0u)));
}

// By pair, the copy reads no more than the pair that is needed does.
TEST(DeadCode, PairsOfAParallelCopy) {
  const std::string body = R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 bra -> b1
block b1
#3 %1, %2 = copy %1, %0
#4 st %2 !write
#5 bra -> b1
)";
  EXPECT_THAT(dead_in(body), IsEmpty());
  EXPECT_THAT(dead_in(body, DeadCopies::Pairs), ElementsAre(1));
}
// %0 is copied twice, and one of the copies is needed.
TEST(DeadCode, APairWhoseSourceAnotherOneCopiesStays) {
  testing::Phases p(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1, %2 = copy %0, %0
#2 st %2 !write
#3 exit
)");
  drop_dead_code(p.problem, p.code, DeadCopies::Pairs);
  EXPECT_EQ(p.code.insts[1].copy_pairs, 1);
  EXPECT_EQ(p.code.refs_of(p.code.insts[1]).size(), 3u);
}

}  // namespace
}  // namespace regduel::reference
