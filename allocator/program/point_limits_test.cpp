#include "allocator/program/point_limits.h"

#include <vector>

#include <gmock/gmock.h>

#include "ir/text/text.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;

std::vector<int> limits(const std::string& blocks, int at_entry) {
  const auto module = ir::parse("rir 1\nfunc @t kernel target sm_90 threads 32\n  vreg %0 P pred\n" + blocks);
  const ir::Function& f = module->functions.front();
  const PointLimits points(f, at_entry);
  std::vector<int> all;
  for (std::size_t i = 0; i < f.insts.size(); ++i) all.push_back(points.at(i));
  all.push_back(points.least());
  all.push_back(points.most());
  return all;
}

// A value that lives across an instruction which changes the limit has to stay below both limits.
TEST(PointLimits, TheLowerHoldsAtTheChangeAndWhereWaysMeet) {
  EXPECT_THAT(limits(R"(  block b0
    #0 %0 = p 0
    #1 cbra %0 -> b1, b2
  block b1
    #2 setmaxnreg.inc.sync.aligned.u32 232
    #3 st 0 !write
    #4 bra -> b3
  block b2
    #5 setmaxnreg.dec.sync.aligned.u32 40
    #6 bra -> b3
  block b3
    #7 exit
)",
                     128),
              ElementsAre(128, 128, 128, 232, 232, 40, 40, 40, 40, 232));
}

TEST(PointLimits, ALoopAndAGuard) {
  EXPECT_THAT(limits(R"(  block b0
    #0 %0 = p 0
    #1 bra -> b1
  block b1
    #2 st 0 !write
    #3 @%0 setmaxnreg.dec.sync.aligned.u32 40
    #4 cbra %0 -> b1, b2
  block b2
    #5 exit
)",
                     128),
              ElementsAre(128, 128, 40, 40, 40, 40, 40, 128));
}

TEST(PointLimits, WithoutAChangeThereIsOne) { EXPECT_FALSE(PointLimits(ir::Function(), 64).vary()); }

}  // namespace
}  // namespace regduel::allocator
