#include "passes/nvptx/candidates.h"

#include <gtest/gtest.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

std::string list(const std::string& body, const CandidateOptions& options = {}) {
  const ir::Function f = testing::program(body);
  const Origins origins(f, options.guarded);
  std::string text;
  for (const Candidate& c : collect_candidates(f, participants(f), origins, options)) {
    text += std::string(name(c.kind)) + " %" + std::to_string(c.def.value) + " %" + std::to_string(c.source.value);
    for (const SubOperand& s : c.sub_operands) text += (s.inherits ? "+" : " ") + std::to_string(s.family);
    text += "; ";
  }
  return text;
}

TEST(Candidates, OfSixKinds) {
  const std::string vregs =
      R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b64
  vreg %3 R b64
  vreg %4 R b128
  vreg %5 R b128
  vreg %6 R f32
)";
  EXPECT_EQ(list(vregs + R"(  block b0
    #0 %1 = copy %0
    #1 exit
)"),
            "copy %1 %0 440; ");
  EXPECT_EQ(list(vregs + R"(  block b0
    #0 %2.hi = copy %3.hi
    #1 exit
)"),
            "subreg %2 %3 441; ");
  EXPECT_EQ(list(vregs + R"(  block b0
    #0 %4.d0 = copy %2
    #1 %3 = copy %4.d0
    #2 exit
)"),
            "extract %3 %2 441; ");
  EXPECT_EQ(list(vregs + R"(  block b0
    #0 %2 = copy %4.d0
    #1 %5.d0 = copy %2
    #2 exit
)"),
            "insert %5 %4 500+501; ");
  EXPECT_EQ(list(vregs + R"(  block b0
    #0 %1 = copy %0
    #1 call "f", %1{=R4}
    #2 exit
)"),
            "parameter %1 %0 502; ");
  EXPECT_EQ(list(vregs + R"(  block b0
    #0 %0{=R4} = call "f"
    #1 %1 = copy %0
    #2 exit
)"),
            "parameter %1 %0 503; ");
  EXPECT_EQ(list(vregs + R"(  block b0
    #0 bra -> b1
  block b1
    #1 %1 = phi b0: %0, b1: %1
    #2 bra -> b1
)"),
            "phi %1 %0 440; ");
}

TEST(Candidates, AcrossClassesThereAreNone) {
  EXPECT_EQ(list(R"(  vreg %0 R b32
  vreg %1 R f32
  vreg %2 UR b32
  block b0
    #0 %1 = copy %0
    #1 %2 = copy %0
    #2 exit
)"),
            "");
}

TEST(Candidates, WhatIsWideGoesByItsPieces) {
  const std::string body = R"(  vreg %0 R b256
  vreg %1 R b256
  block b0
    #0 %1 = copy %0
    #1 exit
)";
  EXPECT_EQ(list(body), "copy %1 %0 500+501+501+501; ");
  EXPECT_EQ(list(body, {.wide = false}), "");
}

TEST(Candidates, WhatTakesNoPart) {
  EXPECT_EQ(list(R"(  vreg %0 R b32
  vreg %1 R b32 fixed R9 architectural
  block b0
    #0 %0 = copy %1
    #1 exit
)"),
            "");
  EXPECT_EQ(list(R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b16 alias %0.h1
  vreg %3 R b16
  block b0
    #0 %1 = copy %0
    #1 bra -> b1
  block b1
    #2 %3 = phi b0: %2
    #3 exit
)"),
            "")
      << "a phi names half of %0 by an alias";
}

TEST(Candidates, WhatTwoPhisOfOneBlockWriteTakesNoPart) {
  EXPECT_EQ(list(testing::words(3) +
                 R"(  block b0
    #0 bra -> b1
  block b1
    #1 %2 = phi b0: %0
    #2 %2 = phi b0: %1
    #3 exit
)"),
            "");
}

TEST(Candidates, Limits) {
  const std::string body = testing::words(4) + R"(  block b0
    #0 %1 = copy %0
    #1 %2, %3 = copy %1, %0
    #2 exit
)";
  EXPECT_EQ(list(body), "copy %1 %0 440; copy %2 %1 440; copy %3 %0 440; ");
  EXPECT_EQ(list(body, {.copy_limit = 1}), "copy %1 %0 440; ");
  EXPECT_EQ(list(body, {.copy_limit = 0}), "");
}

}  // namespace
}  // namespace regduel::passes::nvptx
