// The spill code of small programs, and the refills that reuse saves.

#include "allocator/spill_code/insert_spill_code.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "allocator/program/dead_copies.h"
#include "allocator/program/out_of_ssa.h"
#include "allocator/program/precoloured.h"
#include "allocator/testing.h"
#include "base/random.h"

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

// A vreg that is spilled is so everywhere.
const std::vector<std::pair<std::string, std::string>> kWhole = {{"FatPointSplitLiveRanges", "0"}};

TEST(InsertSpillCode, RefilledValueWaitsForItsNextUse) {
  EXPECT_EQ(count(allocate(program(kTwoUses), limits(2), kWhole).program, ir::Op::Refill), 1);
  EXPECT_EQ(count(allocate(program(kTwoUses), limits(2), {kWhole[0], {"FatPointRefillReuse", "0"}}).program, ir::Op::Refill), 2);
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
    vreg %0..%1 R b32
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
  const auto a = allocate(f, limits(2), kWhole);
  EXPECT_THAT(testing::inst(a.program, 1), HasSubstr("spill"));
}

TEST(InsertSpillCode, EdgeCopiesThroughMemoryUseShadowSlots) {
  // A swap of two values that are both in memory.
  const auto f = program(testing::kSwapInALoop);
  const auto a = allocate(f, limits(2), kWhole);
  EXPECT_GE(a.program.slots.size(), 3u);
  allocate(f, limits(3));
  allocate(f, limits(4));
}

TEST(InsertSpillCode, NarrowValuesMoveTheirOwnBytes) {
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
  EXPECT_EQ(a.claims.spill_store_bytes, 2);
  EXPECT_EQ(a.claims.spill_load_bytes, 2);
  EXPECT_EQ(a.program.slots[0].size, 2u);
}

TEST(InsertSpillCode, SpilledTupleRefillsOnlyTheWordThatIsRead) {
  const auto f = program(R"(
    vreg %0..%1 R b128
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

// %1 is a piece of %0, in memory. Of what both hold it has the newer %0.h0 and the older rest.
TEST(InsertSpillCode, PartCopiedFromAPieceInMemoryLeavesTheOtherBytes) {
  for (const bool is_whole : {false, true}) {
    ir::Function f = out_of_ssa(program(fmt::format(R"(
    vreg %0..%1 R b64
    block b0
      #0 %0 = ld 0
      #1 %1{0} = ld 1
      #2 %0{0} = copy %1{0}
      #3 st %0 !write
      #4 exit
)",
                                                    is_whole ? "" : ".h0")));
    f.insts[2].flags |= ir::kInserted;
    const ir::Cfg cfg(f);
    const Liveness live(f, cfg);
    ir::PerFile<Location> slots;
    slots.fill(Location::slot(ir::MemSpace::Local));
    Plan plan = plan_without_spills(f, {0, 0}, slots);
    plan.first_of = {ir::VRegId(0), ir::VRegId(0)};
    plan.spill(ir::VRegId(1));
    const SpillCode code = insert_spill_code(f, cfg, live, plan, Budget::of(f, ir::default_target(), limits(40)));
    EXPECT_THAT(ir::print(code.f), HasSubstr(is_whole ? "%0 = refill slot 0\n" : "%0.h0 = refill slot 0\n"));
  }
}

// A loop with phis, guarded defs, parts, ties, fixed operands, dead and undefined values.
std::string random_program(Random& random) {
  std::string text;
  for (int v = 0; v < 12; ++v) text += fmt::format("    vreg %{} R b{}{}\n", v, v < 8 ? 32 : 64, v == 0 ? " fixed R9" : "");
  text += "    vreg %12 P pred\n    block b0\n";
  int id = 0;
  const auto narrow = [&] { return random.between(0, 7); };
  const auto free = [&] { return random.between(1, 7); };  // not fixed already
  const auto wide = [&] { return random.between(8, 11); };
  const auto body = [&](int n) {
    for (; n > 0; --n) {
      switch (random.between(0, 9)) {
        case 0: text += fmt::format("      #{} @%12 %{} = sel %{}\n", id++, narrow(), narrow()); break;
        case 1: text += fmt::format("      #{} %{}.lo = op %{}\n", id++, wide(), narrow()); break;
        case 2: text += fmt::format("      #{} st %{}.hi, %{} !write\n", id++, wide(), narrow()); break;
        case 3: text += fmt::format("      #{} %{} = copy %{}\n", id++, narrow(), narrow()); break;
        case 4: text += fmt::format("      #{} %{}{{tied 1}} = mad %{}, %{}\n", id++, free(), free(), free()); break;
        case 5:
          text += fmt::format("      #{} %{}{{=R4}} = call \"f\", %{}{{=R4}}, %{}{{=R5}} clobbers R0:R7\n", id++, free(), free(),
                              free());
          break;
        case 6: text += fmt::format("      #{} %{}{{early}} = op %{}\n", id++, wide(), narrow()); break;
        case 7: text += fmt::format("      #{} %{} = const {} !remat\n", id, narrow(), id), ++id; break;
        default: text += fmt::format("      #{} %{} = op %{}, %{}\n", id++, narrow(), narrow(), wide()); break;
      }
    }
  };
  text += fmt::format("      #{} %12 = ldp 0\n", id++);
  body(random.between(1, 8));
  text += fmt::format("      #{} bra -> b1\n    block b1\n", id++);
  for (int phi = random.between(0, 2); phi > 0; --phi)
    text += fmt::format("      #{} %{} = phi b0: %{}, b2: %{}\n", id++, narrow(), narrow(), narrow());
  body(random.between(0, 6));
  text += fmt::format("      #{} cbra %12 -> b2, b3\n    block b2\n", id++);
  body(random.between(0, 6));
  text += fmt::format("      #{} bra -> b1\n    block b3\n", id++);
  body(random.between(0, 4));
  return text + fmt::format("      #{} exit\n", id);
}

TEST(InsertSpillCode, RangesTakenOverAreThoseFoundAnew) {
  Random random(7);
  int taken_over = 0;
  for (int n = 0; n < 1500; ++n) {
    const std::string text = random_program(random);
    const ir::Function before = program(text);
    ir::Function f = out_of_ssa(before, nullptr, find_dead_copies(before));
    const ir::Cfg cfg(f);
    Liveness live(f, cfg);
    drop_dead_copies(f, live);
    const Budget budget = Budget::of(before, ir::default_target(), limits(40));
    ir::PerFile<Location> slots;
    slots.fill(Location::slot(ir::MemSpace::Local));
    Plan plan = plan_without_spills(f, find_precoloured(f, live, budget), slots);
    if (random.chance(50)) rematerialise(plan, f, cfg, {});
    plan.reuse.distance = random.chance(50) ? 8 : 0;
    for (std::uint32_t v = 0; v < f.vregs.size(); ++v)
      if (random.chance(30)) plan.spill(ir::VRegId(v));
    for (std::size_t i = 0; i < f.insts.size(); ++i) {
      Items items;
      build_items(f, f.insts[i], items);
      if (f.insts[i].is_inserted() || items.items.empty() || !random.chance(10)) continue;
      if (auto homes = pack(f, f.insts[i], items, budget)) plan.pinned[i] = std::move(*homes);
    }
    const SpillCode code = insert_spill_code(f, cfg, live, plan, budget);
    const Liveness anew(code.f, cfg, plan.num_long_lived()), moved(code.f, cfg, live, code.now_at, code.is_changed);
    ASSERT_EQ(anew.num_numbered(), moved.num_numbered());
    for (std::size_t v = 0; v < code.f.vregs.size(); ++v) {
      const auto expected = anew.range(v), found = moved.range(v);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), found.begin(), found.end())) << "%" << v << "\n"
                                                                                            << text << ir::print(code.f);
      taken_over += v < code.is_changed.size() && code.is_changed[v] == 0 && !found.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(taken_over, 5000);
}

}  // namespace
}  // namespace regduel::allocator
