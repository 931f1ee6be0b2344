#include "passes/rewriting/values.h"

#include <string>

#include "passes/rewriting/dominators.h"
#include "passes/rewriting/testing.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::VRegId;

constexpr const char* kProgram = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  vreg %4 R b64
  block b0
    #0 %0 = a
    #1 %3 = setp %0
    #2 cbra %3 -> b1, b2
  block b1
    #3 %1 = b
    #4 @%3 %2 = c
    #5 bra -> b3
  block b2
    #6 %4.lo = d
    #7 bra -> b3
  block b3
    #8 st %0, %1, %2, %4 !write
    #9 exit
)";

TEST(Dominators, OfADiamond) {
  const ir::Function f = testing::parsed(kProgram);
  const ir::Cfg cfg(f);
  const Dominators d(cfg);
  EXPECT_EQ(d.immediate(BlockId(3)), BlockId(0));
  EXPECT_EQ(d.common(BlockId(1), BlockId(2)), BlockId(0));
  EXPECT_EQ(d.common(BlockId(1), BlockId(1)), BlockId(1));
  EXPECT_TRUE(d.dominates(BlockId(0), BlockId(3)));
  EXPECT_TRUE(d.dominates(BlockId(1), BlockId(1)));
  EXPECT_FALSE(d.dominates(BlockId(1), BlockId(3)));
}

TEST(Values, HaveOneWholeDefThatDominatesTheReads) {
  const ir::Function f = testing::parsed(kProgram);
  const ir::Cfg cfg(f);
  const Values v(f, cfg, Dominators(cfg));
  EXPECT_EQ(v.def_of(VRegId(0)), 0u);
  EXPECT_EQ(v.reads_of(VRegId(0)).size(), 2u);
  EXPECT_EQ(v.def_of(VRegId(3)), 1u);
  EXPECT_FALSE(v.is_value(VRegId(1))) << "b2 reaches the read as well";
  EXPECT_FALSE(v.is_value(VRegId(2))) << "under a guard";
  EXPECT_FALSE(v.is_value(VRegId(4))) << "a half";
}

}  // namespace
}  // namespace regduel::passes
