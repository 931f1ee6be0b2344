// Interference lists: who lives at one time with whom.

#include "allocator/classic/interference.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/assign/testing.h"

namespace regduel::allocator {
namespace {

using ir::VRegId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::LoweredRound;

std::set<std::uint32_t> neighbours(const InterferenceLists& lists, std::uint32_t v) {
  std::set<std::uint32_t> all;
  for (const VRegId other : lists.of(VRegId(v))) all.insert(other.value);
  return all;
}

TEST(Interference, ListsWhatLivesAtOneTime) {
  const LoweredRound r(255, R"(
    vreg %0..%3 R b32
    vreg %4 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = add %0, %1
      #3 %3, %4 = ld 3
      #4 @%4 st %2, %3 !write
      #5 exit
  )");
  const InterferenceLists lists(r.lowered.f, r.lowered_live, r.index.vregs[ir::index(ir::RegFile::R)]);
  EXPECT_THAT(neighbours(lists, 0), ElementsAre(1));
  EXPECT_THAT(neighbours(lists, 1), ElementsAre(0)) << "a value that is read last takes over the place of what dies there";
  EXPECT_THAT(neighbours(lists, 2), ElementsAre(3));
  EXPECT_THAT(neighbours(lists, 4), IsEmpty()) << "of another file";
}

TEST(Interference, DefsOfOneInstructionAndARangeWithAHole) {
  const LoweredRound r(255, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0, %1 = ld 0
      #1 st %0, %1 !write
      #2 %2 = ld 1
      #3 st %2 !write
      #4 %0 = ld 2
      #5 st %0 !write
      #6 exit
  )");
  const InterferenceLists lists(r.lowered.f, r.lowered_live, r.index.vregs[ir::index(ir::RegFile::R)]);
  EXPECT_THAT(neighbours(lists, 0), ElementsAre(1)) << "%2 stands in a hole of %0";
  EXPECT_THAT(neighbours(lists, 2), IsEmpty());
}

}  // namespace
}  // namespace regduel::allocator
