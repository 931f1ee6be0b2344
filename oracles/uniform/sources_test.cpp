// What instructions read from uniform registers, asked for by their numbers.

#include "oracles/uniform/sources.h"

#include <vector>

#include "oracles/uniform/testing.h"

namespace regduel::oracles::uniform {
namespace {

// UR2 has a low half that all threads share, and a high half that they do not.
const std::string kBody = R"(
    #0 %0, %4, %7, %8 = a      | R0, UR0, P0, UP0 = a
    #1 %1 = b %4 !remat        | R1 = b UR0 !remat
    +10                        | UR1 = copy R0
    +11                        | UR2 = copy UR0
    +12                        | UR2.hi = copy R0.hi
    +13                        | UP1 = copy P0
    +20                        | R2 = copy UR0
    +21                        | R3 = copy UR1
    +22                        | R4.lo = copy UR2.lo
    +23                        | R4.hi = copy UR2.hi
    +24                        | P1 = copy UP0
    +25                        | P2 = copy UP1
    +26                        | R1 = remat #1 UR0
    #2 use %0, %1, %4, %7, %8 !write | use R0, R1, UR0, P0, UP0 !write
    #3 cbra %8 -> b1, b2       | cbra UP0 -> b1, b2
  block b1
    +27                        | R2 = copy UR0
    #4 exit
  block b2
    #5 exit
  block b3
    +28                        | R2 = copy UR0
    #6 exit
)";

bool all_shared(const std::vector<std::uint32_t>& ids) {
  testing::SharedValuesOf of(kBody);
  std::vector<std::uint32_t> sources;
  for (std::uint32_t k = 0; k < of.after.insts.size(); ++k)
    if (std::ranges::find(ids, of.after.insts[k].id.value) != ids.end()) sources.push_back(k);
  EXPECT_EQ(sources.size(), ids.size());
  return read_shared(of.settled.plan, of.settled.quick, of.shared, sources);
}

TEST(Sources, ReadWhatAllThreadsShareOrNot) {
  EXPECT_TRUE(all_shared({20}));
  EXPECT_FALSE(all_shared({21}));
  EXPECT_FALSE(all_shared({20, 21}));
  EXPECT_TRUE(all_shared({20, 27}));
  EXPECT_FALSE(all_shared({21, 27}));
}

TEST(Sources, AreAskedByByteAndByPredicate) {
  EXPECT_TRUE(all_shared({22}));
  EXPECT_FALSE(all_shared({23}));
  EXPECT_TRUE(all_shared({24}));
  EXPECT_FALSE(all_shared({25}));
}

// What a remat repeats is several steps.
TEST(Sources, AreSeenOnceEach) {
  EXPECT_TRUE(all_shared({1}));
  EXPECT_TRUE(all_shared({1, 20, 26}));
}

TEST(Sources, SayNothingWhereNoPathLeads) { EXPECT_FALSE(all_shared({28})); }

}  // namespace
}  // namespace regduel::oracles::uniform
