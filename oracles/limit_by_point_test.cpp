#include "oracles/limit_by_point.h"

#include <vector>

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::ElementsAre;

std::vector<int> limits(const std::string& blocks, int at_entry) {
  const ir::Function f = testing::parse_function("func @t kernel target sm_90 threads 32\n  vreg %0 P pred\n" + blocks);
  const LimitByPoint points(f, at_entry);
  std::vector<int> all;
  for (std::size_t i = 0; i < f.insts.size(); ++i) all.push_back(points.before(i));
  all.push_back(points.least());
  all.push_back(points.most());
  return all;
}

TEST(LimitByPoint, IsThatOfTheEntryWithoutSetmaxnreg) {
  EXPECT_THAT(limits("  block b0\n    #0 st 0 !write\n    #1 exit\n", 64), ElementsAre(64, 64, 64, 64));
}

TEST(LimitByPoint, TheLowerHoldsWhereWaysMeetAndAtTheHeadOfALoop) {
  EXPECT_THAT(limits(R"(  block b0
    #0 %0 = p 0
    #1 setmaxnreg.inc.sync.aligned.u32 232
    #2 bra -> b1
  block b1
    #3 st 0 !write
    #4 cbra %0 -> b2, b3
  block b2
    #5 setmaxnreg.dec.sync.aligned.u32 40
    #6 bra -> b1
  block b3
    #7 exit
)",
                     128),
              ElementsAre(128, 128, 232, 40, 40, 40, 40, 40, 40, 232));
}

TEST(LimitByPoint, UnderAGuardTheLowerOfBoth) {
  EXPECT_THAT(limits("  block b0\n    #0 %0 = p 0\n    #1 @%0 setmaxnreg.inc.sync.aligned.u32 232\n    #2 @%0 "
                     "setmaxnreg.dec.sync.aligned.u32 40\n    #3 exit\n",
                     128),
              ElementsAre(128, 128, 128, 40, 40, 128));
}

}  // namespace
}  // namespace regduel::oracles
