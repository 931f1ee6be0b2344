#include "generate/program_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::generate {
namespace {

ir::Function parse(const std::string& body) {
  auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 32\n" + body);
  if (!module) throw std::runtime_error(to_string(module.error()));
  return std::move(module->functions.at(0));
}

TEST(UndefinedReads, SeesAnArmWithoutDefinition) {
  const ir::Function f = parse(R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %1 = setp 1
    #1 cbra %1 -> b1, b2
  block b1
    #2 %0 = const 1
    #3 bra -> b2
  block b2
    #4 st %0 !write
    #5 exit
)");
  EXPECT_THAT(undefined_reads(f), testing::ElementsAre(testing::HasSubstr("st %0")));
}

TEST(UndefinedReads, AGuardedDefIsNone) {
  const ir::Function f = parse(R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %1 = setp 1
    #1 @%1 %0 = const 1
    #2 st %0 !write
    #3 exit
)");
  EXPECT_EQ(undefined_reads(f).size(), 1u);
}

TEST(UndefinedReads, AGuardedDefIsOneUnderItsGuard) {
  const ir::Function f = parse(R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %1 = setp 1
    #1 @%1 %0 = const 1
    #2 @%1 st %0 !write
    #3 @!%1 st %0 !write
    #4 %1 = setp 2
    #5 @%1 st %0 !write
    #6 exit
)");
  EXPECT_THAT(undefined_reads(f), testing::ElementsAre(testing::HasSubstr("#3"), testing::HasSubstr("#5")));
}

TEST(UndefinedReads, PartsAddUp) {
  const ir::Function f = parse(R"(
  vreg %0 R b64
  vreg %1 R b32 alias %0.hi
  block b0
    #0 %0.lo = const 1
    #1 st %0.lo !write
    #2 st %0 !write
    #3 %1 = const 1
    #4 st %0 !write
    #5 exit
)");
  EXPECT_THAT(undefined_reads(f), testing::ElementsAre(testing::HasSubstr("#2")));
}

TEST(UndefinedReads, AReadInALoopOfWhatItsEndDefines) {
  const ir::Function f = parse(R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %1 = setp 1
    #1 bra -> b1
  block b1
    #2 st %0 !write
    #3 %0 = const 1
    #4 cbra %1 -> b1, b2
  block b2
    #5 st %0 !write
    #6 exit
)");
  EXPECT_THAT(undefined_reads(f), testing::ElementsAre(testing::HasSubstr("#2")));
}

TEST(MaxLive, CountsUnitsAcrossALoop) {
  const ir::Function f = parse(R"(
  vreg %0 R b64
  vreg %1 P pred
  vreg %2 R b32
  block b0
    #0 %0 = const 1
    #1 bra -> b1
  block b1
    #2 %2 = const 1
    #3 %1 = setp %2
    #4 cbra %1 -> b1, b2
  block b2
    #5 st %0 !write
    #6 exit
)");
  EXPECT_EQ(max_live(f, ir::RegFile::R), 3);
  EXPECT_EQ(max_live(f, ir::RegFile::P), 1);
}

}  // namespace
}  // namespace regduel::generate
