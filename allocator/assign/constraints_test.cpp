// The constraints that the builder derives from the operands of a program.

#include "allocator/assign/constraints.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "allocator/program/out_of_ssa.h"
#include "allocator/spill_code/insert_spill_code.h"
#include "allocator/spill_code/plan.h"
#include "allocator/testing.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

struct Built {
  ir::Function program;
  SpillCode lowered;

  // The constraints of one vreg: type, target and weight; "?" where a retry may leave it out. Affinities (type 15) only where asked
  // for.
  [[nodiscard]] std::vector<std::string> of(std::uint32_t v, const ConstraintOptions& options = {}, bool affinities = false) const {
    const ir::Cfg cfg(lowered.f);
    const Liveness live(lowered.f, cfg);
    const ConstraintLists lists(program, lowered, block_frequencies(lowered.f, cfg, 10), live, options);
    std::vector<std::string> result;
    for (const Constraint& c : lists.of(ir::VRegId(v))) {
      if ((c.type == ConstraintType::Range) != affinities) continue;
      result.push_back(c.partner.is_valid()
                           ? fmt::format("{} %{}{:+} {}{}", name(c.type), c.partner.value, c.unit, c.weight, c.is_soft ? "?" : "")
                           : fmt::format("{} {} {}{}", name(c.type), c.unit, c.weight, c.is_soft ? "?" : ""));
    }
    return result;
  }
};

Built build(std::string_view body) {
  Built b;
  b.program = testing::program(body);
  const ir::Function f = out_of_ssa(b.program);
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  const Plan plan = plan_without_spills(f, std::vector<char>(f.vregs.size(), 0), {});
  const ir::Target& target = ir::default_target();
  b.lowered = insert_spill_code(f, cfg, live, plan, Budget::of(b.program, target, ir::Limits::of(target)));
  return b;
}

TEST(Constraints, CopiesAreAffinitiesUnitByUnit) {
  const Built b = build(R"(
    vreg %0 R b64
    vreg %1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0.hi
      #2 st %0, %1 !write
      #3 exit
)");
  EXPECT_THAT(b.of(1, {}, true), ElementsAre("range %0+1 1"));
  EXPECT_THAT(b.of(0, {}, true), ElementsAre("range %1-1 1"));
  EXPECT_THAT(b.of(1), IsEmpty());
}

// No other vreg stands where an architectural one does, so that the copy is no affinity.
TEST(Constraints, ArchitecturalVregsHaveNone) {
  const auto with = [](std::string_view first) {
    return build(fmt::format(R"(
    {}
    vreg %1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %0, %1 !write
      #3 exit
)",
                             first));
  };
  const Built free = with("vreg %0 R b32"), architectural = with("vreg %0 R b32 fixed R0 architectural");
  for (const std::uint32_t v : {0u, 1u}) {
    EXPECT_THAT(free.of(v, {}, true), Not(IsEmpty())) << v;
    EXPECT_THAT(architectural.of(v, {}, true), IsEmpty()) << v;
  }
}

TEST(Constraints, AHintIsAnAffinity) {
  const Built b = build(R"(
    vreg %0 R b32
    vreg %1 R b32 hint %0
    vreg %2 R b32
    block b0
      #0 %0 = ld 0
      #1 st %0 !write
      #2 %1 = ld 1
      #3 %2 = ld 2
      #4 st %1, %2 !write
      #5 exit
)");
  EXPECT_THAT(b.of(1, {}, true), ElementsAre("range %0+0 2"));
}

TEST(Constraints, BanksOnlyWithTheirKnob) {
  const Built b = build(R"(
    vreg %0..%2 R b32
    vreg %3 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = ld 3
      #4 st %0, %1, %2, %3.hi !write
      #5 exit
)");
  EXPECT_THAT(b.of(1), IsEmpty());
  const ConstraintOptions banks{.bank_aware = true};
  EXPECT_THAT(b.of(0, banks), ElementsAre("even-parity %1+0 1?", "even-parity %2+0 1?", "even-parity %3+1 1?"));
  EXPECT_THAT(b.of(1, banks), ElementsAre("odd-parity %0+0 1?", "odd-parity %2+0 1?", "odd-parity %3+1 1?"));
  EXPECT_THAT(b.of(2, banks), ElementsAre("parity-group %0+0 1?", "parity-group %1+0 1?", "parity-group %3+1 1?"));
  EXPECT_THAT(b.of(3, banks), ElementsAre("parity-extended %0-1 1?", "parity-extended %1-1 1?", "parity-extended %2-1 1?"));
}

TEST(Constraints, CustomOnesComeFromTheTarget) {
  const Built b = build(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = tex %0
      #2 st %1 !write
      #3 exit
)");
  ir::Target target = ir::default_target();
  target.custom_constraints = {{9, "tex", {ir::RegFile::R, 8, 0}, 2, 3}, {10, "st", {ir::RegFile::P, 2, 0}, 1, 3}};
  EXPECT_THAT(b.of(0, {.target = &target}), ElementsAre("custom-9 0 3?"));
  EXPECT_THAT(b.of(1, {.target = &target}), ElementsAre("custom-9 0 3?"));
}

TEST(Constraints, WeightIsTheOrderOfMagnitude) {
  EXPECT_EQ(weight_of(0), 1);
  EXPECT_EQ(weight_of(1), 1);
  EXPECT_EQ(weight_of(10), 10);
  EXPECT_EQ(weight_of(std::int64_t{1} << 40), kMaxWeight);
}

}  // namespace
}  // namespace regduel::allocator
