#include "passes/liveness.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes {
namespace {

// "b0: in -> out" of each block, roots by their numbers.
std::string live(const std::string& vregs, const std::string& blocks) {
  const auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 1\n" + vregs + blocks);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  if (!module) return "";
  const ir::Function& f = module->functions.front();
  const Liveness live(f, ir::Cfg(f));
  std::string text;
  for (std::size_t n = 0; n < f.blocks.size(); ++n) {
    const ir::BlockId b(n);
    text += fmt::format("b{}:", n);
    for (const ir::VRegId v : live.live_in(b)) {
      EXPECT_TRUE(live.is_live_in(b, v));
      text += fmt::format(" {}", v.value);
    }
    text += " ->";
    for (const ir::VRegId v : live.live_out(b)) {
      EXPECT_TRUE(live.is_live_out(b, v));
      text += fmt::format(" {}", v.value);
    }
    text += "\n";
  }
  return text;
}
constexpr const char* kThree = R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
)";

TEST(Liveness, WhatDiesInItsBlockCrossesNoBorder) {
  EXPECT_EQ(live(kThree,
                 R"(  block b0
    #0 %0 = ld 0
    #1 %1 = add %0, 1
    #2 bra -> b1
  block b1
    #3 st %1 !write
    #4 exit
)"),
            "b0: -> 1\nb1: 1 ->\n");
}

TEST(Liveness, GoesAroundALoop) {
  EXPECT_EQ(live(kThree,
                 R"(  block b0
    #0 %0 = ld 0
    #1 %2 = setp %0
    #2 bra -> b1
  block b1
    #3 %1 = add %0, 1
    #4 cbra %2 -> b1, b2
  block b2
    #5 st %1 !write
    #6 exit
)"),
            R"(b0: -> 0 2
b1: 0 2 -> 0 1 2
b2: 1 ->
)");
}

TEST(Liveness, APhiReadsAtTheEndsOfThePredecessors) {
  EXPECT_EQ(live(kThree,
                 R"(  block b0
    #0 %0 = ld 0
    #1 %2 = setp %0
    #2 bra -> b1
  block b1
    #3 %1 = phi b0: %0, b1: %1
    #4 st %1 !write
    #5 cbra %2 -> b1, b2
  block b2
    #6 exit
)"),
            R"(b0: -> 0 2
b1: 2 -> 1 2
b2: ->
)");
}

TEST(Liveness, GuardedDefsAndDefsOfPartsDoNotKill) {
  EXPECT_EQ(live(kThree,
                 R"(  block b0
    #0 %0 = ld 0
    #1 %1 = ld 1
    #2 %2 = setp %0
    #3 bra -> b1
  block b1
    #4 @%2 %0 = ld 2
    #5 %1.h0 = ld 3
    #6 st %0, %1 !write
    #7 exit
)"),
            "b0: -> 0 1 2\nb1: 0 1 2 ->\n");
}

TEST(Liveness, AnAliasIsItsRoot) {
  EXPECT_EQ(live("  vreg %0 R b64\n  vreg %1 R b32 alias %0.hi\n",
                 R"(  block b0
    #0 %0 = ld 0
    #1 bra -> b1
  block b1
    #2 st %1 !write
    #3 exit
)"),
            "b0: -> 0\nb1: 0 ->\n");
}

TEST(Liveness, WhereNoDefReachesNothingIsLive) {
  // %1 is read before any def of it, and its guarded def does not reach back to the entry.
  EXPECT_EQ(live(kThree,
                 R"(  block b0
    #0 %2 = setp 0
    #1 bra -> b1
  block b1
    #2 st %0 !write
    #3 @%2 %1 = ld 1
    #4 bra -> b2
  block b2
    #5 st %1 !write
    #6 exit
)"),
            R"(b0: -> 2
b1: 2 -> 1
b2: 1 ->
)");
}

TEST(Liveness, UnreachableBlocksAndEndlessLoopsAreBlocks) {
  EXPECT_EQ(live(kThree,
                 R"(  block b0
    #0 %0 = ld 0
    #1 bra -> b1
  block b1
    #2 st %0 !write
    #3 bra -> b1
  block b2
    #4 %1 = ld 1
    #5 bra -> b3
  block b3
    #6 st %1 !write
    #7 exit
)"),
            R"(b0: -> 0
b1: 0 -> 0
b2: -> 1
b3: 1 ->
)");
}

TEST(Liveness, ArchitecturalVRegsAreLiveNowhere) {
  EXPECT_EQ(live("  vreg %0 R b32 fixed R5 architectural\n",
                 R"(  block b0
    #0 %0 = ld 0
    #1 bra -> b1
  block b1
    #2 st %0 !write
    #3 exit
)"),
            "b0: ->\nb1: ->\n");
}

}  // namespace
}  // namespace regduel::passes
