#include "reference/program/point_limits.h"

#include <string>
#include <vector>

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;

std::vector<int> limits(const std::string& blocks, int at_entry) {
  const ir::Function f = testing::parse_body("  vreg %0 P pred\n" + blocks);
  const ir::Cfg cfg(f);
  const PointLimits points(f, cfg, at_entry);
  std::vector<int> all = {points.least(), points.most()};
  for (std::size_t i = 0; i < f.insts.size(); ++i) all.push_back(points.behind(i));
  return all;
}

TEST(PointLimits, TheLowerHoldsWhereWaysMeet) {
  EXPECT_THAT(limits(R"(  block b0
    #0 %0 = p 0
    #1 cbra %0 -> b1, b2
  block b1
    #2 setmaxnreg.inc.sync.aligned.u32 232
    #3 bra -> b3
  block b2
    #4 setmaxnreg.dec.sync.aligned.u32 40
    #5 bra -> b3
  block b3
    #6 exit
)",
                     128),
              ElementsAre(40, 232, 128, 128, 232, 232, 40, 40, 40));
}

TEST(PointLimits, ALoopLowersItsHead) {
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
              ElementsAre(40, 128, 128, 128, 40, 40, 40, 40));
}

constexpr const char* kAcross = R"(
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0 = ld 0 !read
    #1 setmaxnreg.dec.sync.aligned.u32 40
    #2 %1 = ld 0 !read
    #3 st %0, %1 !write
    #4 setmaxnreg.inc.sync.aligned.u32 232
    #5 %1 = ld 0 !read
    #6 st %1 !write
    #7 exit
)";

// What lives where the limit is lower keeps below it, throughout its life.
TEST(PointLimits, ForbidWhatIsAbove) {
  testing::Phases p(kAcross, 128, "kernel");
  EXPECT_EQ(p.problem.allocatable()[ir::index(ir::RegFile::R)].count(), 232);
  EXPECT_EQ(p.forbidden(0).first(), 40);
  EXPECT_EQ(p.forbidden(1).first(), 40);
  EXPECT_EQ(p.problem.packed(2).failed, std::nullopt);
}

}  // namespace
}  // namespace regduel::reference
