// Each field counted by hand, and each line word for word.

#include "oracles/quality/spill_statistics.h"

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

SpillStatistics statistics_of(const std::string& slots, const std::string& body, const std::string& variables = "") {
  const std::string head = "func @f kernel target sm_90 threads 32";
  const ir::Function before = parse_function(head + "\n" + variables + "  block b0\n    #99 exit\n");
  const ir::Function after = parse_function(head + " allocated\n" + slots + "  block b0\n" + body + "    #99 exit\n");
  return spill_statistics(measure({before, *ir::find_target("sm_90")}, after), before, after);
}

const std::string kSlots = R"(
  frame local 32 shared 16
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 16 align 16 offset 16
  slot 2 shared size 8 align 8 offset 0
)";

TEST(SpillStatistics, CountsEachSpaceAndDirectionApart) {
  const SpillStatistics s = statistics_of(kSlots, R"(
    +1 spill R0, slot 0
    +2 spill R4:R7, slot 1
    +3 R0 = refill slot 0
    +4 R1 = refill slot 1+4
    +5 R2:R3 = refill slot 1+8
    +6 spill UR0:UR1, slot 2
    +7 UR0 = refill slot 2+4
)");
  EXPECT_EQ(s.local_spill_bytes, 4 + 16);
  EXPECT_EQ(s.local_refill_bytes, 4 + 4 + 8);
  EXPECT_EQ(s.shared_spill_bytes, 8);
  EXPECT_EQ(s.shared_refill_bytes, 4);
  EXPECT_EQ(s.local_own_store_bytes + s.local_own_load_bytes + s.own_size, 0);
  EXPECT_EQ(s.estimated_latency, 5 * kLatency.local + 2 * kLatency.shared + kLatency.arithmetic);
}

TEST(SpillStatistics, LowSizeIsThatOfTheSlotsAndFrameSizeThatOfTheFrame) {
  const SpillStatistics s = statistics_of(kSlots, "");
  EXPECT_EQ(s.low_local_size, 20);
  EXPECT_EQ(s.frame_local_size, 32);
}

TEST(SpillStatistics, TheProgramsOwnVariablesAreInTheFrameAndNotSpilled) {
  const SpillStatistics s = statistics_of("  frame local 20 shared 0\n  slot 0 local size 4 align 4 offset 16\n",
                                          "    +1 spill R0, slot 0\n", "  frame local 12 shared 0\n");
  EXPECT_EQ(s.own_size, 12);
  EXPECT_EQ(s.frame_local_size, 8);
  EXPECT_EQ(s.low_local_size, 4);
}

// Bytes stored and bytes loaded.
std::array<std::int64_t, 2> own(const std::string& instructions) {
  const SpillStatistics s = statistics_of("", instructions);
  EXPECT_EQ(s.local_spill_bytes + s.local_refill_bytes + s.low_local_size + s.frame_local_size, 0);
  return {s.local_own_store_bytes, s.local_own_load_bytes};
}
using Own = std::array<std::int64_t, 2>;

TEST(SpillStatistics, OwnAccessesCountByTypeAndVector) {
  EXPECT_EQ(own("    #1 R0 = ld.local.u32 R2:R3 !read\n"), (Own{0, 4}));
  EXPECT_EQ(own("    #1 R0 = ld.local.u8 R2:R3 !read\n    #2 st.local.f64 R2:R3, R4:R5 !write\n"), (Own{8, 1}));
  EXPECT_EQ(own("    #1 R4:R7 = ld.volatile.local.v4.b32 R2:R3 !read\n"), (Own{0, 16}));
  EXPECT_EQ(own("    #1 R0 = ld.relaxed.sys.local.u16 R2:R3 !read\n"), (Own{0, 2}));
  EXPECT_EQ(own("    #1 st.local.v2.u16 R2:R3, R4 !write\n"), (Own{4, 0}));
}

TEST(SpillStatistics, OtherMemoryAndWhatIsDeletedDoNotCount) {
  EXPECT_EQ(own("    #1 R0 = ld.global.u32 R2:R3 !read\n    #2 st.shared.u32 R2, R0 !write\n"), (Own{0, 0}));
  EXPECT_EQ(own("    #1 R0 = ld.u32 R2:R3 !read\n    #2 prefetch.local.L1 R2:R3\n"), (Own{0, 0}));
  EXPECT_EQ(own("    #1 R0 = ldu.local.u32 R2\n    #2 st.local R2, R0 !write\n"), (Own{0, 0}));
  EXPECT_EQ(own("    #1 ld.local.u32 !read !readonly !remat !deleted\n    +2 R1 = remat #1 \"depot\"\n"), (Own{0, 4}));
  // Numbers need not ascend.
  EXPECT_EQ(own("    +60 R2 = copy R3\n    +61 R4 = copy R5\n    +62 R6 = copy R7\n"
                "    #1 ld.local.u32 !read !readonly !remat !deleted\n    +2 R1 = remat #1 \"depot\"\n"),
            (Own{0, 4}));
}

TEST(SpillStatistics, FieldsStandInTheOrderOfTheSource) {
  std::string names;
  for (const auto& [name, field] : kSpillFields) names += std::string(name) + " ";
  EXPECT_EQ(names, "LSpillB LRefillB SRefillB SSpillB LowLmemSpillSize FrameLmemSpillSize LNonSpillB LNonRefillB NonSpillSize ");
}

SpillStatistics numbered() {
  SpillStatistics s;
  s.estimated_latency = 900;
  std::int64_t next = 12;  // their offsets in the source
  for (const auto& [name, field] : kSpillFields) s.*field = next++;
  return s;
}

TEST(SpillStatistics, ReportLinesAreThoseOfTheSource) {
  EXPECT_EQ(
      report_lines(numbered()),
      R"(# [est latency = 900] [LSpillB=12] [LRefillB=13], [SSpillB=15], [SRefillB=14], [LowLmemSpillSize=16] [FrameLmemSpillSize=17]
# [LNonSpillB=18] [LNonRefillB=19], [NonSpillSize=20]
)");
  SpillStatistics saturated;
  saturated.estimated_latency = std::nullopt;
  EXPECT_THAT(report_lines(saturated), ::testing::StartsWith("# [est latency = saturated] [LSpillB=0] "));
}

// What ptxas 13.0.88 prints behind its "ptxas info    : " and "ptxas warning : "; scripts/check/ptxas-test compares them where it is
// installed.
TEST(SpillStatistics, FunctionPropertiesAreThoseOfPtxas) {
  EXPECT_EQ(function_properties("sha256", numbered(), numbered().frame_local_size),
            "Function properties for sha256\n    17 bytes stack frame, 12 bytes spill stores, 13 bytes spill loads");
}

TEST(SpillStatistics, WarnsWhereLocalMemoryIsSpilledTo) {
  EXPECT_EQ(spill_warning("sha256", numbered()),
            "Registers are spilled to local memory in function 'sha256', 12 bytes spill stores, 13 bytes spill loads");
  EXPECT_EQ(spill_warning("f", statistics_of(kSlots, "    +6 spill UR0:UR1, slot 2\n")), std::nullopt);
  EXPECT_NE(spill_warning("f", statistics_of(kSlots, "    +1 spill R0, slot 0\n")), std::nullopt);
  EXPECT_NE(spill_warning("f", statistics_of(kSlots, "    +1 R0 = refill slot 0\n")), std::nullopt);
}

}  // namespace
}  // namespace regduel::oracles
