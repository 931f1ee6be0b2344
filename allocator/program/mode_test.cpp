// The allocation mode: from phis, wide vregs and fixed operands, file by file.

#include "allocator/program/mode.h"

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using testing::program;

constexpr std::string_view kLoopOf = R"(
  block b0
    #0 %0 = const 1
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0, b1: %1
    #3 %2 = setp %1
    #4 cbra %2 -> b1, b2
  block b2
    #5 exit
)";

AllocationMode mode_of(const ir::Function& f, RegFile file) { return modes_of(f)[ir::index(file)]; }

TEST(Mode, IsPlainWithoutPhisAndFixedOperands) {
  const auto modes = modes_of(program("vreg %0 R b64\nblock b0\n#0 %0 = const 1\n#1 st %0 !write\n#2 exit\n"));
  for (const AllocationMode m : modes) EXPECT_EQ(m, AllocationMode::Plain);
}

TEST(Mode, SaysThatThereArePhis) {
  const auto f = program("vreg %0 R b32\nvreg %1 R b32\nvreg %2 P pred" + std::string(kLoopOf));
  EXPECT_EQ(mode_of(f, RegFile::R), AllocationMode::Cssa);
  EXPECT_EQ(mode_of(f, RegFile::P), AllocationMode::Plain) << "each file by itself";
}

TEST(Mode, SaysThatThereArePhisAndPairs) {
  const auto f = program("vreg %0 R b64\nvreg %1 R b64\nvreg %2 P pred" + std::string(kLoopOf));
  EXPECT_EQ(mode_of(f, RegFile::R), AllocationMode::CssaPaired);
}

TEST(Mode, SaysThatOperandsAreFixed) {
  EXPECT_EQ(mode_of(program("vreg %0 R b32\nblock b0\n#0 %0{=R4} = const 1\n#1 exit\n"), RegFile::R), AllocationMode::Fixed);
  EXPECT_EQ(mode_of(program("vreg %0 R b32 fixed R4\nblock b0\n#0 %0 = const 1\n#1 exit\n"), RegFile::R), AllocationMode::Fixed);
}

TEST(Mode, PutsPhisAboveFixedOperands) {
  const auto f = program("vreg %0 R b32 fixed R4\nvreg %1 R b32\nvreg %2 P pred" + std::string(kLoopOf));
  EXPECT_EQ(mode_of(f, RegFile::R), AllocationMode::Cssa);
}

TEST(Mode, IsNotBoundByArchitecturalRegisters) {
  const auto f = program("vreg %0 P pred fixed P6 architectural\nblock b0\n#0 @%0 st 1 !write\n#1 exit\n");
  EXPECT_EQ(mode_of(f, RegFile::P), AllocationMode::Plain);
}

}  // namespace
}  // namespace regduel::allocator
