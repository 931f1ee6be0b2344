// Slots that share bytes, and dead stores, on the smallest programs that show them.

#include "allocator/frame/slot_layout.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;

// A program over physical registers, as lay_out_slots() reads it: only slots, and how many bytes go there, count.
ir::Function slots_of(const std::string& slots, const std::string& body, std::uint32_t variables = 0) {
  auto file = ir::parse("rir 1\nfunc @t kernel target sm_90 threads 32 allocated\n  frame local 256 shared 256\n" + slots +
                        "  block b0\n" + body);
  EXPECT_TRUE(file.has_value()) << (file ? "" : to_string(file.error()));
  file->functions.at(0).local_frame = variables;
  return std::move(file->functions.at(0));
}
SlotLayout layout_of(const ir::Function& f, std::int64_t shared_bytes = 0, ir::Fuel* fuel = nullptr) {
  return lay_out_slots(f, ir::Cfg(f), SlotGroups::alone(f.slots), shared_bytes, fuel);
}
// "0+4": four bytes into slot 0; "-": nowhere.
std::vector<std::string> places(const SlotLayout& layout) {
  std::vector<std::string> list;
  for (const SlotLayout::Place& p : layout.place)
    list.push_back(p.slot.is_valid() ? fmt::format("{}+{}", p.slot.value, p.offset) : "-");
  return list;
}

constexpr const char* kTwo = "  slot 0 local size 4 align 4 offset 0\n  slot 1 local size 4 align 4 offset 4\n";

TEST(SlotLayout, ValuesThatFollowOneAnotherShareASlot) {
  const auto f =
      slots_of(kTwo,
               "    +11 spill R0, slot 0\n    +12 R1 = refill slot 0\n    +13 spill R0, slot 1\n    +14 R1 = refill slot 1\n"
               "    #0 exit\n");
  const SlotLayout layout = layout_of(f);
  EXPECT_THAT(places(layout), ElementsAre("0+0", "0+0"));
  EXPECT_EQ(layout.slots.size(), 1u);
  EXPECT_EQ(layout.local_frame, 4u);
}

// They are aligned there, too.
TEST(SlotLayout, SlotsBeginBehindTheProgramsOwnVariables) {
  const auto f = slots_of("  slot 0 local size 8 align 8 offset 0\n",
                          "    +11 spill R0:R1, slot 0\n    +12 R0:R1 = refill slot 0\n    #0 exit\n", 20);
  EXPECT_EQ(layout_of(f).slots.at(0).offset, 24u);
  EXPECT_EQ(layout_of(f).local_frame, 32u);
  EXPECT_EQ(layout_of(slots_of("", "    #0 exit\n", 20)).local_frame, 20u);
}

TEST(SlotLayout, ValuesInMemoryAtOneTimeDoNot) {
  const auto f =
      slots_of(kTwo,
               "    +11 spill R0, slot 0\n    +13 spill R0, slot 1\n    +12 R1 = refill slot 0\n    +14 R1 = refill slot 1\n"
               "    #0 exit\n");
  EXPECT_THAT(places(layout_of(f)), ElementsAre("0+0", "1+0"));
}

// The second lap reads what the first one stored.
TEST(SlotLayout, AValueLivesAroundALoop) {
  const auto f =
      slots_of(kTwo,
               "    #0 bra -> b1\n  block b1\n    +11 R1 = refill slot 0\n    +12 spill R0, slot 0\n"
               "    +13 spill R0, slot 1\n    +14 R1 = refill slot 1\n    #1 cbra P0 -> b1, b2\n  block b2\n    #2 exit\n");
  EXPECT_THAT(places(layout_of(f)), ElementsAre("0+0", "1+0"));
}

// Bytes that a guarded store, or a store of a part, leaves unchanged may still be read.
TEST(SlotLayout, OnlyAStoreOfAllEndsWhatWasThere) {
  const auto body = [](const std::string& store) {
    return "    +11 spill R0, slot 0\n    +12 spill R2, slot 1\n    +13 R1 = refill slot 1\n    " + store +
           "\n    +15 R1 = refill slot 0\n    #0 exit\n";
  };
  const SlotLayout whole = layout_of(slots_of(kTwo, body("+14 spill R3, slot 0")));
  EXPECT_THAT(places(whole), ElementsAre("0+0", "0+0"));
  EXPECT_EQ(whole.dead_store[0], 1) << "nobody reads it";
  for (const char* store : {"+14 @P0 spill R3, slot 0", "+14 spill R3.lo, slot 0+2"}) {
    const SlotLayout layout = layout_of(slots_of(kTwo, body(store)));
    EXPECT_THAT(places(layout), ElementsAre("0+0", "1+0")) << store;
    EXPECT_EQ(layout.dead_store[0], 0) << store;
  }
}

TEST(SlotLayout, SmallOnesStandInALargeOne) {
  const auto f = slots_of(
      "  slot 0 local size 4 align 4 offset 0\n  slot 1 local size 4 align 4 offset 4\n  slot 2 local size 8 align 8 offset 8\n",
      "    +11 spill R0:R1, slot 2\n    +12 R0:R1 = refill slot 2\n    +13 spill R0, slot 0\n    +14 spill R0, slot 1\n"
      "    +15 R1 = refill slot 0\n    +16 R1 = refill slot 1\n    #0 exit\n");
  const SlotLayout layout = layout_of(f);
  EXPECT_THAT(places(layout), ElementsAre("0+0", "0+4", "0+0"));
  EXPECT_EQ(layout.slots.at(0).size, 8u);
  EXPECT_EQ(layout.slots.at(0).align, 8u);
}

TEST(SlotLayout, ASlotThatNothingRefillsIsNone) {
  const auto f = slots_of(kTwo, "    +11 spill R0, slot 0\n    +13 spill R0, slot 1\n    +14 R1 = refill slot 1\n    #0 exit\n");
  const SlotLayout layout = layout_of(f);
  EXPECT_THAT(places(layout), ElementsAre("-", "0+0"));
  EXPECT_THAT(layout.dead_store, ElementsAre(1, 0, 0, 0));
  ir::Fuel none{.limit = 0};
  EXPECT_THAT(places(layout_of(f, 0, &none)), ElementsAre("0+0", "1+0"));
}

TEST(SlotLayout, WhatDoesNotFitIntoSharedMemoryGoesToLocal) {
  const auto f =
      slots_of("  slot 0 shared size 4 align 4 offset 0\n  slot 1 shared size 4 align 4 offset 4\n",
               "    +11 spill R0, slot 0\n    +13 spill R0, slot 1\n    +12 R1 = refill slot 0\n    +14 R1 = refill slot 1\n"
               "    #0 exit\n");
  const SlotLayout layout = layout_of(f, 4);
  EXPECT_EQ(layout.slots.at(0).space, ir::MemSpace::Shared);
  EXPECT_EQ(layout.slots.at(1).space, ir::MemSpace::Local);
  EXPECT_EQ(layout.shared_frame, 4u);
  EXPECT_EQ(layout.local_frame, 4u);
}

}  // namespace
}  // namespace regduel::allocator
