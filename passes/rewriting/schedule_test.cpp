// What scheduling makes of small programs, as text.

#include "passes/rewriting/schedule.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/check.h"
#include "passes/rewriting/testing.h"

namespace regduel::passes {
namespace {

constexpr std::string_view kHead = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R b32
  vreg %4 R b32
  vreg %5 R b32
  vreg %6 P pred
)";

using Knobs = std::vector<std::pair<std::string, std::string>>;

std::string scheduled(std::string_view body, const Knobs& knobs = {}, ir::Fuel* fuel = nullptr) {
  const ir::Function f = testing::parsed(std::string(kHead) + std::string(body));
  const ir::Function after = *schedule().run(f, ir::default_target(), {.fuel = fuel, .knobs = knobs});
  EXPECT_TRUE(ir::check(after, ir::default_target(), 1).empty());
  const std::string text = ir::print(after);
  return text.substr(text.find("  block b0"));
}

TEST(Schedule, LoadsGoToTheirReaders) {
  EXPECT_EQ(scheduled(R"(  block b0
    #0 %0 = base
    #1 %1 = ld %0, 0 !read
    #2 %2 = ld %0, 4 !read
    #3 %3 = ld %0, 8 !read
    #4 %4 = add %1, %2
    #5 %4 = add %4, %3
    #6 st %4 !write
    #7 exit
)"),
            R"(  block b0
    #0 %0 = base
    #1 %1 = ld %0, 0 !read
    #2 %2 = ld %0, 4 !read
    #4 %4 = add %1, %2
    #3 %3 = ld %0, 8 !read
    #5 %4 = add %4, %3
    #6 st %4 !write
    #7 exit
)");
}

TEST(Schedule, ReadsPassNoWriteAndEffectsKeepTheirOrder) {
  constexpr std::string_view kStores = R"(  block b0
    #0 %0 = base
    #1 %1 = ld %0 !read
    #2 %2 = ld %0, 4 !read
    #3 st %0 !write
    #4 st %0, 8 !write
    #5 bar 0 !barrier
    #6 st %0, %1 !write
    #7 st %0, %2 !write
    #8 exit
)";
  EXPECT_EQ(scheduled(kStores), kStores);
}

TEST(Schedule, TheSourceWinsADraw) {
  constexpr std::string_view kDraw = R"(  block b0
    #0 %0 = a
    #1 %1 = b
    #2 st %0, %1 !write
    #3 %2 = c
    #4 %3 = d
    #5 st %3, %2 !write
    #6 exit
)";
  EXPECT_EQ(scheduled(kDraw), kDraw);
}

constexpr std::string_view kBranch = R"(  block b0
    #0 %0 = a
    #1 %1 = mul %0, 3
    #2 %6 = setp %0
    #3 cbra %6 -> b1, b2
  block b1
    #4 st %0, %1 !write
    #5 bra -> b2
  block b2
    #6 st %0 !write
    #7 exit
)";
TEST(Schedule, ADefGoesToTheBlockThatReadsIt) {
  EXPECT_EQ(scheduled(kBranch), R"(  block b0
    #0 %0 = a
    #2 %6 = setp %0
    #3 cbra %6 -> b1, b2
  block b1
    #1 %1 = mul %0, 3
    #4 st %0, %1 !write
    #5 bra -> b2
  block b2
    #6 st %0 !write
    #7 exit
)");
  EXPECT_EQ(scheduled(kBranch, {{"schedule-sink", "0"}, {"schedule-order", "source"}}), kBranch);
}

TEST(Schedule, NothingGoesIntoALoop) {
  constexpr std::string_view kLoop = R"(  block b0
    #0 %0 = a
    #1 %1 = mul %0, 3
    #2 bra -> b1
  block b1
    #3 st %0, %1 !write
    #4 %6 = setp %0
    #5 cbra %6 -> b1, b2
  block b2
    #6 exit
)";
  EXPECT_EQ(scheduled(kLoop), kLoop);
}

TEST(Schedule, AReadThatMemoryMayChangeStaysInItsBlock) {
  std::string read(kBranch);
  read.replace(read.find("#1 %1 = mul %0, 3"), 17, "#1 %1 = ld %0 !read");
  const Knobs no_order = {{"schedule-order", "source"}};
  EXPECT_EQ(scheduled(read, no_order), read);
  const std::size_t at = read.find("!read");
  read.replace(at, 5, "!read !readonly");
  EXPECT_NE(scheduled(read, no_order), read);
}

TEST(Schedule, AChainGoesAsAWhole) {
  const std::string text = scheduled(R"(  block b0
    #0 %0 = a
    #1 %1 = mul %0, 3
    #2 %2 = mul %1, 5
    #3 %6 = setp %0
    #4 cbra %6 -> b1, b2
  block b1
    #5 st %2 !write
    #6 bra -> b2
  block b2
    #7 st %0 !write
    #8 exit
)");
  EXPECT_LT(text.find("block b1"), text.find("#1 %1"));
  EXPECT_LT(text.find("#1 %1"), text.find("#2 %2"));
}

TEST(Schedule, LatencyPutsReadsInFrontAgainWherePressureAllows) {
  constexpr std::string_view kBody = R"(  block b0
    #0 %0 = base
    #1 %1 = a %0
    #2 %2 = b %0
    #3 %3 = c %1, %2, %0
    #4 st %3 !write
    #5 %4 = ld %0 !read !readonly
    #6 st %4 !write
    #7 exit
)";
  EXPECT_EQ(scheduled(kBody), kBody);
  const std::string early = scheduled(kBody, {{"schedule-latency", "2"}});
  EXPECT_LT(early.find("#5 %4"), early.find("#4 st")) << early;
}

TEST(Schedule, WithoutFuelTheProgramStaysAsItIs) {
  ir::Fuel none{.limit = 0};
  EXPECT_EQ(scheduled(kBranch, {}, &none), kBranch);
  EXPECT_EQ(none.refused, "sink");
}

TEST(Schedule, KnobsHaveTheirValues) {
  const ir::Function f = testing::parsed(std::string(kHead) + std::string(kBranch));
  for (const auto& knob : Knobs{{"schedule-order", "random"}, {"schedule-latency", "401"}, {"schedule-sunk", "1"}}) {
    const Knobs one = {knob};
    EXPECT_FALSE(schedule().run(f, ir::default_target(), {.knobs = one}).has_value()) << knob.first;
  }
}

}  // namespace
}  // namespace regduel::passes
