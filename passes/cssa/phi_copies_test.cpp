#include "passes/cssa/phi_copies.h"

#include <vector>

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes::conventional {
namespace {

constexpr std::string_view kJoin =
    R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R f32
  vreg %2 R f32
  vreg %3 P pred
  vreg %4 R b64
  block b0
    #0 %0 = ld 0
    #1 %3 = setp 0
    #2 cbra %3 -> b1, b2
  block b1
    #3 %1 = ld 1
    #4 bra -> b2
  block b2
    #5 %2 = phi b0: %0, b1: %1, b3: %1
    #6 %4 = phi b0: %4, b1: %4, b3: %4
    #7 st %2 !write
    #8 exit
  block b3
    #9 bra -> b2
)";

struct Case {
  explicit Case(std::string_view text, ir::Fuel* fuel = nullptr)
      : f(ir::parse(text)->functions.front()), cfg(f), weights(f.blocks.size(), 1), phis(f, cfg, weights, fuel) {}
  ir::Function f;
  ir::Cfg cfg;
  std::vector<std::int64_t> weights;
  PhiCopies phis;
};

TEST(PhiCopies, OneAtTheHeadAndOneAtTheEndOfEachReachablePredecessor) {
  const Case c(kJoin);
  ASSERT_EQ(c.phis.phis().size(), 1u) << "no instruction demands a pair: the second phi stays";
  ASSERT_EQ(c.phis.copies().size(), 3u);
  EXPECT_TRUE(c.phis.copies()[0].at_head);
  EXPECT_EQ(c.phis.copies()[0].block, ir::BlockId(2));
  EXPECT_EQ(c.phis.copies()[1].block, ir::BlockId(0));
  EXPECT_EQ(c.phis.copies()[2].block, ir::BlockId(1));
  EXPECT_EQ(c.phis.at_head(ir::BlockId(2)).size(), 1u);
  EXPECT_EQ(c.phis.at_end(ir::BlockId(1)).size(), 1u);
  EXPECT_EQ(c.phis.at_end(ir::BlockId(3)).size(), 0u);
}

TEST(PhiCopies, TheHubIsWhatMostOfThemAre) {
  const Case c(kJoin);
  EXPECT_EQ(c.phis.phis()[0].hub.type, ir::TypeKind::F);
  EXPECT_EQ(c.phis.phis()[0].hub.width, 32);
}

TEST(PhiCopies, WithoutFuelThePhiStays) {
  ir::Fuel none{.limit = 0};
  const Case c(kJoin, &none);
  EXPECT_TRUE(c.phis.phis().empty());
  EXPECT_EQ(none.refused, "isolate-phi");
  EXPECT_FALSE(c.phis.is_apart(*c.f.find_inst(ir::InstId(5))));
}

TEST(PhiCopies, KindsDifferInWhatAnAllocatorOrATypeClassMaySee) {
  const ir::VReg plain;
  ir::VReg other = plain;
  other.type = ir::TypeKind::S;
  EXPECT_EQ(Kind::of(plain), Kind::of(other)) << "bits and integers are one class";
  other.type = ir::TypeKind::F;
  EXPECT_NE(Kind::of(plain), Kind::of(other));
  other = plain;
  other.align_log2 = 1;
  EXPECT_NE(Kind::of(plain), Kind::of(other));
  other = plain;
  other.cls = ir::RegClass::RAlt;
  EXPECT_NE(Kind::of(plain), Kind::of(other));
  other = plain;
  other.flags = ir::kVRegUniform;
  EXPECT_NE(Kind::of(plain), Kind::of(other));
}

}  // namespace
}  // namespace regduel::passes::conventional
