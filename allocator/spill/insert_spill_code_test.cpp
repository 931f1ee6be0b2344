// Spill code as it comes out, and which refills are saved.

#include "allocator/spill/insert_spill_code.h"

#include <gmock/gmock.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using testing::allocate;
using testing::count;
using ::testing::HasSubstr;
using testing::limits;
using testing::program;

// %0 is defined, then something needs all registers, then %0 is used twice with room in between.
constexpr std::string_view kTwoUses = R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 %2 = ld 2
      #5 st %0, %2 !write
      #6 exit
)";

TEST(InsertSpillCode, RefilledValueWaitsForItsNextUse) {
  EXPECT_EQ(count(allocate(program(kTwoUses), limits(2)).program, ir::Op::Refill), 1);
  EXPECT_EQ(count(allocate(program(kTwoUses), limits(2), {{"FatPointRefillReuse", "0"}}).program, ir::Op::Refill), 2);
}

// %0 has to be refilled for the call, where all that it may stand in is clobbered: waiting there for #4 would need a pinned call.
TEST(InsertSpillCode, RefilledValueDoesNotWaitAcrossClobbersThatLeaveItNoRoom) {
  const auto refills = [](const char* clobbers) {
    const auto f = program(std::string(R"(
    vreg %0 R b32
    vreg %1 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 call "f", %0 clobbers )") +
                           clobbers + R"(
      #4 st %0 !write
      #5 exit
)");
    return count(allocate(f, limits(2)).program, ir::Op::Refill);
  };
  EXPECT_EQ(refills("R0:R1"), 2);
  EXPECT_EQ(refills("R0"), 1);
}

TEST(InsertSpillCode, DeadDefIsNotStored) {
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 %0 = ld 2
      #5 exit
)");
  EXPECT_EQ(count(allocate(f, limits(2)).program, ir::Op::Spill), 1);
}

TEST(InsertSpillCode, OriginalCopyBecomesASpillAndARefill) {
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 R b32
    vreg %2 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 %0 = ld 1
      #3 %2 = ld 2
      #4 st %2 !write
      #5 st %0, %1 !write
      #6 exit
)");
  const auto a = allocate(f, limits(2));
  EXPECT_THAT(testing::inst(a.program, 1), HasSubstr("spill"));
}

TEST(InsertSpillCode, EdgeCopiesThroughMemoryUseShadowSlots) {
  // A swap of two values that are both in memory.
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 R b32
    vreg %2 P pred
    vreg %3 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 bra -> b1
    block b1
      #3 %0 = phi b0: %0, b1: %1
      #4 %1 = phi b0: %1, b1: %0
      #5 %3 = ld 3
      #6 st %3 !write
      #7 %2 = isetp 0
      #8 cbra %2 -> b1, b2
    block b2
      #9 st %0 !write
      #10 st %1 !write
      #11 exit
)");
  const auto a = allocate(f, limits(2));
  EXPECT_GE(a.program.slots.size(), 3u);
  allocate(f, limits(3));
  allocate(f, limits(4));
}

TEST(InsertSpillCode, NarrowValuesMoveAsWholeUnits) {
  const auto f = program(R"(
    vreg %0 R b16
    vreg %1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 exit
)");
  const auto a = allocate(f, limits(1));
  EXPECT_EQ(a.claims.spill_store_bytes, 4);
  EXPECT_EQ(a.claims.spill_load_bytes, 4);
}

TEST(InsertSpillCode, SpilledTupleRefillsOnlyTheWordThatIsRead) {
  const auto f = program(R"(
    vreg %0 R b128
    vreg %1 R b128
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0.w2 !write
      #4 exit
)");
  const auto a = allocate(f, limits(4));
  EXPECT_EQ(a.claims.spill_store_bytes, 16);
  EXPECT_EQ(a.claims.spill_load_bytes, 4);
}

}  // namespace
}  // namespace regduel::allocator
