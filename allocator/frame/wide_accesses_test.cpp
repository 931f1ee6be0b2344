// Wide accesses of neighbouring registers, on the smallest programs that show them.

#include "allocator/frame/wide_accesses.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using testing::allocate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::limits;
using ::testing::Not;
using testing::program;

ir::PReg r(int first, int count = 1) {
  return {ir::RegFile::R, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(first)};
}
MemoryAccess access(int first, std::uint32_t offset, int count = 1, std::uint32_t slot = 0) {
  return {r(first, count), ir::SlotId(slot), offset};
}
// "R0:R1 0+8": two units at offset 8 of slot 0.
std::vector<std::string> widened(const std::vector<MemoryAccess>& run, const std::vector<ir::Slot>& slots, bool is_store = false) {
  std::vector<std::string> list;
  for (const MemoryAccess& a : widen(run, slots, is_store))
    list.push_back(fmt::format("{} {}+{}", ir::to_string(a.registers), a.slot.value, a.offset));
  return list;
}
std::vector<ir::Slot> frame(std::uint32_t offset = 0) { return {{ir::MemSpace::Local, 32, 16, offset}}; }

TEST(Widen, TwoNeighboursAndFour) {
  EXPECT_THAT(widened({access(0, 0), access(1, 4)}, frame()), ElementsAre("R0:R1 0+0"));
  EXPECT_THAT(widened({access(4, 16), access(5, 20), access(6, 24), access(7, 28)}, frame()), ElementsAre("R4:R7 0+16"));
  EXPECT_THAT(widened({access(4, 0, 2), access(6, 8, 2)}, frame()), ElementsAre("R4:R7 0+0")) << "pairs";
  EXPECT_THAT(widened({access(4, 0, 2), access(6, 8), access(7, 12)}, frame()), ElementsAre("R4:R7 0+0")) << "both";
  EXPECT_THAT(widened({access(4, 0, 4), access(8, 16, 4)}, frame()), ElementsAre("R4:R7 0+0", "R8:R11 0+16")) << "16 bytes at most";
}

TEST(Widen, StandsWhereTheFirstStood) {
  EXPECT_THAT(widened({access(9, 4), access(2, 16), access(8, 0), access(3, 28)}, frame()),
              ElementsAre("R8:R9 0+0", "R2 0+16", "R3 0+28"));
}

TEST(Widen, OnlyWhereRegistersAndBytesFollowOneAnother) {
  EXPECT_THAT(widened({access(1, 0), access(2, 4)}, frame()), ElementsAre("R1 0+0", "R2 0+4")) << "no tuple begins at R1";
  EXPECT_THAT(widened({access(0, 4), access(1, 0)}, frame()), ElementsAre("R0 0+4", "R1 0+0")) << "the other way round";
  EXPECT_THAT(widened({access(0, 4), access(1, 8)}, frame()), ElementsAre("R0 0+4", "R1 0+8")) << "no multiple of 8";
  EXPECT_THAT(widened({access(0, 0), access(1, 4)}, frame(4)), ElementsAre("R0 0+0", "R1 0+4")) << "nor in the frame";
  EXPECT_THAT(widened({access(0, 4), access(1, 8)}, frame(4)), ElementsAre("R0:R1 0+4"));
  const std::vector<ir::Slot> two = {{ir::MemSpace::Local, 4, 4, 0}, {ir::MemSpace::Local, 4, 4, 4}};
  EXPECT_THAT(widened({access(0, 0), access(1, 0, 1, 1)}, two), ElementsAre("R0 0+0", "R1 1+0")) << "two slots";
}

// The second refill of R0 is the one that stays, and of two stores to one place the last.
TEST(Widen, NotWhereTheOrderCounts) {
  EXPECT_THAT(widened({access(0, 0), access(1, 4), access(0, 8)}, frame()), ElementsAre("R0 0+0", "R1 0+4", "R0 0+8"));
  EXPECT_THAT(widened({access(0, 0), access(1, 4), access(2, 4)}, frame(), true), ElementsAre("R0 0+0", "R1 0+4", "R2 0+4"));
  EXPECT_THAT(widened({access(0, 0), access(1, 4), access(2, 4)}, frame(), false), ElementsAre("R0:R1 0+0", "R2 0+4"))
      << "what is only read may be read twice";
}

// %0:%1 are stored together once, %1:%2 are read together in a loop; slots stand by what is executed most.
constexpr const char* kLoop = R"(
    vreg %0..%2 R b32
    vreg %3 R b128
    vreg %4 P pred
    block b0
      #0 %0, %1 = ld.v2 0
      #1 %2 = ld 8
      #2 bra -> b1
    block b1 depth 1
      #3 %3 = ld.v4 16
      #4 st.v4 %3 !write
      #5 st %1{=R0}, %2{=R1} !write
      #6 %4 = setp %2
      #7 cbra %4 -> b1, b2
    block b2
      #8 st %0 !write
      #9 exit
)";

TEST(GroupSlots, ThoseThatAreMostOftenMovedTogetherStandTogether) {
  const auto a = allocate(program(kLoop), limits(4), {{"FatPointSplitLiveRanges", "0"}});
  EXPECT_THAT(ir::print(a.program), HasSubstr("R0:R1 = refill slot"));
  testing::expect_same_behaviour(program(kLoop), a.program);
}

TEST(GroupSlots, TheKnobLeavesEachAlone) {
  const auto a = allocate(program(kLoop), limits(4), {{"FatPointSplitLiveRanges", "0"}, {"FatPointWideAccesses", "0"}});
  EXPECT_THAT(ir::print(a.program), Not(HasSubstr("R0:R1 = refill slot")));
}

TEST(GroupSlots, SavedRegistersToo) {
  std::string body =
      "vreg %0 R b128\nvreg %1 R b32\nblock b0\n#0 %0{=R24:R27} = ld 0\n#1 %1{=R29} = ld 16\n#2 st %0, %1 !write\n#3 ret\n";
  const auto a = allocate(program(body, "device"), limits(64));
  const std::string text = ir::print(a.program);
  EXPECT_THAT(text, HasSubstr("spill R24:R27, slot 0"));
  EXPECT_THAT(text, HasSubstr("spill R29, slot 1"));
  EXPECT_THAT(text, HasSubstr("R24:R27 = refill slot 0"));
}

}  // namespace
}  // namespace regduel::allocator
