#include "allocator/assign/neighbours.h"

#include <gmock/gmock.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// %0 and %1 live at one time, %2 after both.
TEST(Neighbours, ThoseThatLiveWhileTheRangeDoes) {
  const ir::Function f = testing::program(R"(
    vreg %0 R b64
    vreg %1 R b32
    vreg %2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0, %1 !write
      #3 %2 = ld 2
      #4 st %2 !write
      #5 exit
)");
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  Neighbours n(f, live, 4);
  const ir::VRegId v0(0), v1(1), v2(2);
  const int home[] = {0, 1, 0};  // the second unit of %0 has two of them, as while somebody moves
  n.add(v1);
  n.add(v0);
  n.add(v2);
  n.find(live.range(1), home);
  EXPECT_THAT(n.at(0), ElementsAre(v0));
  EXPECT_THAT(n.at(1), ElementsAre(v1, v0));  // as they came
  n.find(live.range(2), home);
  EXPECT_THAT(n.at(0), ElementsAre(v2));
  EXPECT_THAT(n.at(1), IsEmpty());
  n.remove(v0);
  n.find(live.range(1), home);
  EXPECT_THAT(n.at(0), IsEmpty());
  EXPECT_THAT(n.at(1), ElementsAre(v1));
  n.begin_list();
  EXPECT_TRUE(n.is_new(v0));
  EXPECT_FALSE(n.is_new(v0));
  n.begin_list();
  EXPECT_TRUE(n.is_new(v0));
}

}  // namespace
}  // namespace regduel::allocator
