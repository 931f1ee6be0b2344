#include "reference/exact/exact.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::parse_body;

std::expected<ir::Allocation, ir::AllocFailure> exactly(const std::string& body, int registers,
                                                        std::vector<std::pair<std::string, std::string>> knobs = {}) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), registers);
  options.knobs = std::move(knobs);
  return make_exact()->allocate(parse_body(body), ir::default_target(), options);
}

constexpr const char* kThreeLive =
    "vreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nvreg %3 P pred\nblock b0\n#0 %0 = ld 0\n#1 %1 = ld 1\n#2 %2 = ld 2\n#3 %3 = setp "
    "%0\n"
    "#4 @%3 st %2, %1 !write\n#5 st %0 !write\n#6 exit\n";

TEST(Exact, SaysThatItsRegistersAreTheFewest) {
  const auto a = exactly(kThreeLive, 255);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_EQ(a->claims.registers[ir::index(ir::RegFile::R)], 3);
  EXPECT_THAT(a->notes, ElementsAre("file R: 3 registers, the fewest without splitting",
                                    "file P: 1 registers, the fewest without splitting"));
}

TEST(Exact, SpillsNothing) {
  const auto a = exactly(kThreeLive, 2);
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::Unsupported);
  EXPECT_EQ(a.error().message, "file R does not fit into 2 registers without spilling, which is proved");
}

TEST(Exact, ImpossibleAsBriggsHasIt) {
  const auto a = exactly("vreg %0 R b128\nblock b0\n#0 %0 = ld\n#1 st %0 !write\n#2 exit\n", 3);
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::Impossible);
  EXPECT_EQ(a.error().message, ir::failure_message(3));
}

// A pair fits between two scalars only where the first of them does not stand in its way.
TEST(Exact, TuplesAndFixedRegisters) {
  const auto a = exactly(
      "vreg %0 R b32\nvreg %1 R b64\nvreg %2 R b32\nblock b0\n#0 %0 = ld 0\n#1 %1 = ld 1\n#2 %2{=R2} = ld 2\n#3 st %0, %1 !write\n"
      "#4 st %2 !write\n#5 exit\n",
      255);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_EQ(a->claims.registers[ir::index(ir::RegFile::R)], 4);
}

TEST(Exact, Knobs) {
  for (const char* value : {"0", "x", "1000001", ""}) {
    const auto a = exactly(kThreeLive, 255, {{"exact-effort", value}});
    ASSERT_FALSE(a.has_value());
    EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::BadKnob);
    EXPECT_THAT(a.error().message, HasSubstr("is no number from 1 to 1000000"));
  }
  const auto a = exactly(kThreeLive, 255, {{"briggs-coalesce", "0"}});
  ASSERT_FALSE(a.has_value());
  EXPECT_THAT(a.error().message, HasSubstr("exact has no knob \"briggs-coalesce\""));
  EXPECT_TRUE(exactly(kThreeLive, 255, {{"exact-effort", "1"}}).has_value());
}

}  // namespace
}  // namespace regduel::reference
