// Figures of small programs counted by hand.

#include "oracles/quality/quality.h"

#include "ir/loops.h"
#include "oracles/quality/max_live.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

int max_live_r(const std::string& body) {
  const ir::Function f = parse_function("func @t kernel target sm_90 threads 32\n" + body);
  return max_live(f, ir::Cfg(f))[index(ir::RegFile::R)];
}
const std::string kFour = R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R b64
  block b0
)";

TEST(MaxLive, CountsUnitsAtBothMoments) {
  EXPECT_EQ(max_live_r(kFour + R"(
    #0 %0 = a 1
    #1 %1 = b %0
    #2 use %1
    #3 exit
)"),
            1);
  EXPECT_EQ(max_live_r(kFour + R"(
    #0 %0 = a 1
    #1 %1 = b %0
    #2 use %1, %0
    #3 exit
)"),
            2);
  EXPECT_EQ(max_live_r(kFour + R"(
    #0 %0 = a 1
    #1 %1{early} = b %0
    #2 use %1
    #3 exit
)"),
            2);
  EXPECT_EQ(max_live_r(kFour + R"(
    #0 %3 = a 1
    #1 %1 = b %3.hi
    #2 use %1
    #3 exit
)"),
            2);
  // A dead def needs a place too.
  EXPECT_EQ(max_live_r(kFour + R"(
    #0 %0 = a 1
    #1 %1, %3 = b 1
    #2 use %0
    #3 exit
)"),
            4);
  // A use that no def reaches is nowhere live.
  EXPECT_EQ(max_live_r(kFour + R"(
    #0 %0 = a 1
    #1 use %0, %1, %3
    #2 exit
)"),
            1);
}

TEST(MaxLive, PartsOfAPairAreNotLiveBeforeTheyAreWritten) {
  EXPECT_EQ(max_live_r(kFour + R"(
    #0 %0, %1, %2 = a 1
    #1 use %0, %1, %2
    #2 %3.lo = a 1
    #3 %3.hi = a 2
    #4 use %3
    #5 exit
)"),
            3);
}

TEST(MaxLive, FollowsLoopsPhisAndGuards) {
  const std::string loop = R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b32
  block b0
    #0 %0 = a 1
    #1 %1 = a 2
    #2 %2 = p 1
    #3 bra -> b1
  block b1
    #4 %3 = phi b0: %1, b1: %3
    #5 @%2 %3 = add %3, 1
    #6 cbra %2 -> b1, b2
  block b2
    #7 use %0
    #8 exit
)";
  const ir::Function f = parse_function("func @t kernel target sm_90 threads 32\n" + loop);
  EXPECT_EQ(max_live(f, ir::Cfg(f))[index(ir::RegFile::R)], 2);  // %0 through the loop, %1 up to it or %3 in it
  EXPECT_EQ(max_live(f, ir::Cfg(f))[index(ir::RegFile::P)], 1);
  // A first guarded def in a loop does not stretch back to the entry.
  EXPECT_EQ(max_live_r(R"(
  vreg %0 R b32
  vreg %1 P pred
  vreg %2 R b64
  block b0
    #0 %2 = a 1
    #1 use %2
    #2 %1 = p 1
    #3 @%1 %0 = a 1
    #4 use %0
    #5 exit
)"),
            2);
}

// What an instruction both reads and writes is read first: it is live around the loop.
TEST(MaxLive, AnAccumulatorIsLiveAroundItsLoop) {
  EXPECT_EQ(max_live_r(R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b64
  vreg %3 P pred
  block b0
    #0 %0 = a 1
    #1 %1 = a 2
    #2 %3 = p 1
    #3 bra -> b1
  block b1
    #4 %2 = a 3
    #5 use %2
    #6 %1 = add %1, %0
    #7 cbra %3 -> b1, b2
  block b2
    #8 exit
)"),
            4);
}

const auto [kBefore, kAfter] = side_by_side(R"(
func @t kernel target sm_90 threads 256
  frame local 8 shared 4
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 P pred
  slot 0 local size 8 align 8 offset 0
  slot 1 shared size 4 align 4 offset 0
  block b0
    #0 %0 = a 1          | R2:R3 = a 1
    +10                  | spill R2:R3, slot 0
    #1 %1 = copy %0.lo   | spill R2, slot 1
    #2 %2 = p 1          | P1 = p 1
    #3 bra -> b1
  block b1
    +11                  | R2 = refill slot 1
    +12                  | R4:R5 = refill slot 0
    #4 use %0, %1        | use R4:R5, R2
    #5 cbra %2 -> b1, b2 | cbra P1 -> b3, b2
  block b2
    #6 call "f" clobbers R0:R99
    #7 exit
  block b3 edge b1 -> b1
    +13                  | R40, R2 = copy R2, R2
    +14                  | bra -> b1
)");

TEST(Quality, CountsWhatIsThere) {
  const ir::Function before = parse_function(kBefore), after = parse_function(kAfter);
  const Measures m = measure({before, *ir::find_target("sm_90")}, after);
  EXPECT_EQ(m.registers[index(ir::RegFile::R)], 41);  // clobbers do not count
  EXPECT_EQ(m.registers[index(ir::RegFile::P)], 2);
  EXPECT_EQ(m.spill_stores, 2);
  EXPECT_EQ(m.spill_store_bytes, 12);
  EXPECT_EQ(m.spill_loads, 2);
  EXPECT_EQ(m.spill_load_bytes, 12);
  EXPECT_EQ(m.shared_spill_bytes, 8);
  EXPECT_EQ(m.weighted_spill_bytes, 12 + 12 * 10);
  EXPECT_EQ(m.inserted_copies, 1);  // the pair in place moves nothing
  EXPECT_EQ(m.weighted_copies, 10);
  EXPECT_EQ(m.kept_copies, 0);
  EXPECT_EQ(m.edge_blocks, 1);
  EXPECT_EQ(m.instructions_before, 8);
  EXPECT_EQ(m.instructions_after, 13);
  EXPECT_EQ(m.max_live[index(ir::RegFile::R)], 3);
  EXPECT_EQ(m.max_live[index(ir::RegFile::P)], 1);
  // 41 registers: 1312 a warp, 1536 by the granularity, 42 warps, so 5 blocks of 8.
  EXPECT_EQ(m.warps_per_sm, 40);
  EXPECT_EQ(m.occupancy_percent, 62);
}

// Frequencies and depths that are given count, not those that the loops would have; on an edge that of its rarer end.
TEST(Quality, WeighsByGivenFrequenciesAndCountsTheRest) {
  const auto [before, after] = parse_both(R"(
func @t kernel target sm_90 threads 96
  frame local 24 shared 600
  vreg %0 R b32
  vreg %1 P pred
  vreg %2 R b32
  block b0 freq 7
    #0 %0 = const 5 !remat | const !remat !deleted
    #1 %1 = p 1            | P0 = p 1
    +20                    | R0 = remat #0 5
    #2 %2 = copy %0        | R1 = copy R0
    +21                    | R3{inout} = p2r P0
    +22                    | P0 = r2p R3
    +23                    | R3{inout} = bit_spill P0, 4
    #3 bra -> b1           | bra -> b3
  block b1 depth 2
    +24                    | R0 = remat #0 5
    #4 %2 = copy %0        | R1 = copy R0
    +25                    | P0 = bit_refill R3, 4
    #5 cbra %1 -> b1, b2   | cbra P0 -> b1, b2
  block b2
    #6 use %2              | use R1
    #7 exit
  block b3 edge b0 -> b1
    +26                    | R4 = copy R1
    +27                    | bra -> b1
)");
  const Measures m = measure({before, *ir::find_target("sm_90")}, after);
  EXPECT_EQ(m.kept_copies, 2);
  EXPECT_EQ(m.inserted_copies, 1);
  EXPECT_EQ(m.weighted_copies, 7 + 100 + 7);
  EXPECT_EQ(m.remats, 2);
  EXPECT_EQ(m.pack_operations, 4);
  EXPECT_EQ(m.local_frame_bytes, 24);
  EXPECT_EQ(m.shared_frame_bytes, 600);
  EXPECT_EQ(m.instructions_after, 15);
  // 600 bytes for each of 96 threads: four blocks of three warps fit 228 KiB.
  EXPECT_EQ(m.warps_per_sm, 12);
  EXPECT_EQ(m.occupancy_percent, 18);
  EXPECT_EQ(m.estimated_latency, 7 * 7 * 4 + 4 * 4 * 100 + 2 * 4 + 2 * 4 * 7);
}

TEST(Quality, LatencyOfMemoryNearAndFar) {
  const auto latency = [](const std::string& body) {
    const std::string head = "func @t kernel target sm_90 threads 32";
    const ir::Function before = parse_function(head + R"(

  block b0
    #9 exit
)");
    const ir::Function after = parse_function(head + R"( allocated
  frame local 4 shared 4
  slot 0 local size 4 align 4 offset 0
  slot 1 shared size 4 align 4 offset 0
  block b0
)" + body + "    #9 exit\n");
    return *measure({before, *ir::find_target("sm_90")}, after).estimated_latency - kLatency.arithmetic;
  };
  EXPECT_EQ(latency("    +1 spill R0, slot 0\n"), kLatency.local);
  EXPECT_EQ(latency("    +1 R0 = refill slot 1\n"), kLatency.shared);
  EXPECT_EQ(latency("    #1 R0 = ld 1 !read\n    #2 st R0 !write\n"), 2 * kLatency.local);
  EXPECT_EQ(latency("    #1 R0 = add R1\n    #2 copy !deleted\n"), kLatency.arithmetic);
}

TEST(Quality, BankConflictsAreOfSourcesReadTogether) {
  const auto conflicts = [](const std::string& instruction) {
    const std::string head = "func @t kernel target sm_90 threads 32", exit = "    #9 exit\n";  // four banks
    const ir::Function before = parse_function(head + R"(

  block b0
)" + exit);
    const ir::Function after = parse_function(head + " allocated\n  block b0\n    #0 " + instruction + "\n" + exit);
    return measure({before, *ir::find_target("sm_90")}, after).bank_conflicts;
  };
  EXPECT_EQ(conflicts("use R0, R4"), 1);
  EXPECT_EQ(conflicts("use R0, R1, R2, R3"), 0);
  EXPECT_EQ(conflicts("use R0, R4, R8, R1"), 3);
  EXPECT_EQ(conflicts("use R0, R0"), 0);
  EXPECT_EQ(conflicts("use R0:R1, R4:R7"), 1);
  EXPECT_EQ(conflicts("R0{inout} = add R4"), 1);
  EXPECT_EQ(conflicts("R0 = add R4"), 0);
  EXPECT_EQ(conflicts("use R0, UR4, P4"), 0);
  EXPECT_EQ(conflicts("call R0, R4"), 0);
}

TEST(Quality, HoldsClaimsAgainstTheCount) {
  ir::Claims claims;
  claims.registers[index(ir::RegFile::R)] = 41;
  claims.registers[index(ir::RegFile::P)] = 2;
  claims.spill_store_bytes = 12;
  claims.spill_load_bytes = 12;
  const auto verdict = [&] { return judge_text(quality_judge(), kBefore, kAfter, 255, &claims); };
  EXPECT_EQ(verdict().verdict, Verdict::Pass);
  claims.registers[index(ir::RegFile::P)] = 1;
  EXPECT_THAT(categories(verdict()), ElementsAre("claims-registers"));
  claims.registers[index(ir::RegFile::P)] = 2;
  claims.spill_store_bytes = 8;
  EXPECT_THAT(categories(verdict()), ElementsAre("claims-spill-store-bytes"));
  claims.spill_store_bytes = 12;
  claims.spill_load_bytes = 24;
  EXPECT_THAT(categories(verdict()), ElementsAre("claims-spill-load-bytes"));
  const JudgeResult unclaimed = judge_text(quality_judge(), kBefore, kAfter);
  EXPECT_EQ(unclaimed.verdict, Verdict::Skipped);
  EXPECT_EQ(unclaimed.reason, "nothing was claimed");
}

TEST(Quality, ABlockWeighsAtMostWhatNineLoopsDo) {
  const struct {
    const char* block;
    std::int64_t weight;
  } rows[] = {{"depth 8", 100'000'000},
              {"depth 9", ir::kMostWeight},
              {"depth 10", ir::kMostWeight},
              {"depth 900", ir::kMostWeight},
              {"freq 999999999", 999'999'999},
              {"freq 1000000001", ir::kMostWeight},
              {"freq 9223372036854775807", ir::kMostWeight}};
  for (const auto& row : rows) {
    const std::string block = std::string("  block b0 ") + row.block + "\n";
    const ir::Function before = parse_function("func @t kernel target sm_90 threads 32\n" + block + "    #0 exit\n");
    const ir::Function after = parse_function(R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 4 shared 0
  slot 0 local size 4 align 4 offset 0
)" + block + R"(
    +1 spill R0, slot 0
    +2 spill R0, slot 0
    +3 R1 = copy R0
    #0 exit
)");
    const Measures m = measure({before, *ir::find_target("sm_90")}, after);
    EXPECT_EQ(m.weighted_spill_bytes, 8 * row.weight) << row.block;
    EXPECT_EQ(m.weighted_copies, row.weight) << row.block;
  }
}

}  // namespace
}  // namespace regduel::oracles
