// The constraints of types 1 to 8 that the builder derives from the operands of a program.

#include "allocator/classic/source_constraints.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/program/out_of_ssa.h"
#include "allocator/spill_code/insert_spill_code.h"
#include "allocator/testing.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Built {
  ir::Function program;
  SpillCode lowered;

  explicit Built(std::string_view body) : program(testing::program(body)) {
    const ir::Function f = out_of_ssa(program);
    const ir::Cfg cfg(f);
    const Liveness live(f, cfg);
    const Plan plan = plan_without_spills(f, std::vector<char>(f.vregs.size(), 0), {});
    const ir::Target& target = ir::default_target();
    lowered = insert_spill_code(f, cfg, live, plan, Budget::of(program, target, ir::Limits::of(target)));
  }
  // The constraints of one vreg: type, target and weight; "?" where a retry may leave it out.
  [[nodiscard]] std::vector<std::string> of(std::uint32_t v, std::uint32_t types = 0xFFFF) const {
    const ir::Cfg cfg(lowered.f);
    const Liveness live(lowered.f, cfg);
    const std::vector<std::int64_t> frequency = block_frequencies(lowered.f, cfg, 10);
    const ConstraintLists affinities(program, lowered, frequency, live);
    const SourceConstraints lists(program, lowered.f, frequency, live, affinities, types);
    std::vector<std::string> result;
    for (const Constraint& c : lists.of(ir::VRegId(v)))
      result.push_back(c.partner.is_valid()
                           ? fmt::format("{} %{}{:+} {}{}", name(c.type), c.partner.value, c.unit, c.weight, c.is_soft ? "?" : "")
                           : fmt::format("{} {} {}{}", name(c.type), c.unit, c.weight, c.is_soft ? "?" : ""));
    return result;
  }
};

TEST(SourceConstraints, FixedOperandAndTheOtherArguments) {
  const Built b(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 call "f", %0{=R4}, %1{=R5} clobbers R0:R3
      #3 exit
)");
  EXPECT_THAT(b.of(0), ElementsAre("exclude-all-but 4 1", "exclude-one 5 1?"));
  EXPECT_THAT(b.of(1), ElementsAre("exclude-all-but 5 1", "exclude-one 4 1?"));
}

TEST(SourceConstraints, FixedOperandLosesAgainstAnotherCopy) {
  const Built b(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1{=R4} !write
      #3 exit
)");
  EXPECT_THAT(b.of(1), IsEmpty());
}

TEST(SourceConstraints, BelowWhatACallKeepsBesideWhatLivesAcrossIt) {
  const Built b(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %0 !write
      #3 call "f" clobbers R0:R7, R9
      #4 st %1 !write
      #5 exit
)");
  EXPECT_THAT(b.of(0), ElementsAre("below-point 8 1?"));
  EXPECT_THAT(b.of(1), IsEmpty());
}

TEST(SourceConstraints, DefsSpareTheTuplesThatAreRead) {
  const Built b(R"(
    vreg %0 R b64
    vreg %1 R b32
    vreg %2 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = narrow %0
      #2 %2 = neg %0
      #3 st %1, %2 !write
      #4 exit
)");
  EXPECT_THAT(b.of(1), ElementsAre("paired-low %0+0 1?", "paired-high %0+0 1?"));
  EXPECT_THAT(b.of(2), ElementsAre("aligned-pair %0+0 1?"));
  EXPECT_THAT(b.of(0), IsEmpty());
}

TEST(SourceConstraints, PhisLikeOneParity) {
  const Built b(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 bra -> b1
    block b1
      #2 %1 = phi b0: %0, b1: %1
      #3 %2 = isetp %1
      #4 cbra %2 -> b1, b2
    block b2
      #5 exit
)");
  EXPECT_THAT(b.of(0), ElementsAre("phi %1+0 1?"));
  EXPECT_THAT(b.of(1), ElementsAre("phi %0+0 1?"));
}

TEST(SourceConstraints, OnlyTheTypesThatAreOn) {
  const Built b(R"(
    vreg %0 R b64
    vreg %1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = narrow %0
      #2 st %1 !write
      #3 exit
)");
  EXPECT_THAT(b.of(1, 1u << 5), ElementsAre("paired-low %0+0 1?"));
  EXPECT_THAT(b.of(1, 1u << 6), ElementsAre("paired-high %0+0 1?"));
  EXPECT_THAT(b.of(1, 0xFFFF & ~(1u << 5 | 1u << 6)), IsEmpty());
}

}  // namespace
}  // namespace regduel::allocator
