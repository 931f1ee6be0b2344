// The general operators on a hand-made allocation: what they change, and what the judges say of it.
#include "trial/faults/operators.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/check.h"
#include "oracles/judges.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/testing.h"
#include "trial/faults/faults.h"

namespace regduel::trial {
namespace {

using oracles::testing::parse_function;

const std::string kBefore = R"(
func @f kernel target sm_90 threads 256
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b64
  vreg %3 P pred
  vreg %4 R b32
  vreg %5 R b32
  block b0
    #0 %0 = ld.a !read
    #1 %1 = ld.b !read
    #2 %2 = ld.c !read
    #3 %3 = setp %0, %1
    #4 @%3 st %0, 1 !write
    #5 %4{tied 1} = mad %0, %1
    #6 %5{early} = atom %1, %2
    #7 %1{=R4} = call "g", %4{=R4} clobbers R4:R11
    #8 st %1, %2 !write
    #9 cbra %3 -> b1, b2
  block b1
    #10 %0 = ld.d !read
    #11 bra -> b2
  block b2
    #12 st %0, %5 !write
    #13 exit
)";
const std::string kAfter = R"(
func @f kernel target sm_90 threads 256 allocated
  frame local 16 shared 0
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b64
  vreg %3 P pred
  vreg %4 R b32
  vreg %5 R b32
  slot 0 local size 8 align 8 offset 0
  slot 1 local size 4 align 4 offset 8
  slot 2 local size 4 align 4 offset 12
  block b0
    #0 R0 = ld.a !read
    #1 R1 = ld.b !read
    #2 R2:R3 = ld.c !read
    +20 spill R2:R3, slot 0
    +21 spill R0, slot 1
    #3 P0 = setp R0, R1
    #4 @P0 st R0, 1 !write
    +22 R4 = copy R0
    #5 R4 = mad R4, R1
    +23 R2:R3 = refill slot 0
    #6 R5 = atom R1, R2:R3
    +24 spill R5, slot 2
    #7 R4 = call "g", R4 clobbers R4:R11
    #8 st R4, R2:R3 !write
    +25 R0 = refill slot 1
    #9 cbra P0 -> b1, b2
  block b1
    #10 R0 = ld.d !read
    #11 bra -> b2
  block b2
    +26 R6 = refill slot 2
    #12 st R0, R6 !write
    #13 exit
)";

const FaultOperator& find(std::string_view name) {
  for (const FaultOperator& op : fault_operators())
    if (op.name == name) return op;
  ADD_FAILURE() << "no operator " << name;
  return fault_operators()[0];
}

class General : public testing::Test {
 protected:
  ir::Function before = parse_function(kBefore), after = parse_function(kAfter);
  ir::Target target = *ir::find_target("sm_90");
  ir::Limits limits = ir::Limits::of(target, 32);

  int code = 0;  // that the result of the last operator has to show

  // The result of the operator; nothing where it found no place.
  std::optional<ir::Function> apply(std::string_view name, std::uint64_t seed) {
    Random random(seed);
    auto damaged = inject(find(name), Site({before, after, target, limits}), random);
    if (!damaged) return std::nullopt;
    EXPECT_THAT(ir::check(damaged->program), testing::IsEmpty()) << name;
    EXPECT_NE(ir::print(damaged->program), ir::print(after)) << name;
    code = damaged->code;
    return std::move(damaged->program);
  }
  oracles::Verdict verdict(const ir::Function& f, std::string_view judge) {
    return oracles::find_judge(judge)->judge({before, f, target, limits}).verdict;
  }
  std::vector<std::string> categories(const ir::Function& f, std::string_view judge) {
    return oracles::testing::categories(oracles::find_judge(judge)->judge({before, f, target, limits}));
  }
};

TEST_F(General, TheHandMadeAllocationIsCorrect) {
  for (const oracles::Judge* judge : fault_judges())
    EXPECT_NE(verdict(after, judge->name()), oracles::Verdict::Fail) << judge->name();
}

TEST_F(General, WhatTheyRaiseOnIt) {
  // Operators of value and of memory that have a place here at which a code follows.
  for (const std::string_view name :
       {"wrong-use-register", "uninitialised-use", "wrong-def-register", "lost-def", "swapped-uses", "half-clobbered",
        "live-overwritten", "shared-register", "late-copy", "refill-wrong-slot", "dropped-spill", "early-spill", "half-spill",
        "guarded-spill", "swapped-slots", "reused-slot", "overlapping-offsets", "hoisted-refill"}) {
    SCOPED_TRACE(name);
    int applied = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto damaged = apply(name, seed);
      if (!damaged || code == 0) continue;
      ++applied;
      EXPECT_EQ(verdict(*damaged, "execution"), oracles::Verdict::Fail) << ir::print(*damaged);
      EXPECT_THAT(categories(*damaged, "memcheck"), testing::Contains(oracles::slug(static_cast<oracles::MemcheckCode>(code))))
          << ir::print(*damaged);
    }
    EXPECT_GT(applied, 0);
  }
}

TEST_F(General, RulesThatTheyBreakOnIt) {
  target.reserved.push_back({ir::RegFile::R, 2, 16});
  for (const FaultOperator& op : fault_operators()) {
    if (op.structure.empty()) continue;
    SCOPED_TRACE(op.name);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto damaged = apply(op.name, seed);
      if (!damaged) continue;
      auto raised = categories(*damaged, "structure");
      std::ranges::move(categories(*damaged, "uniform"), std::back_inserter(raised));  // whose rule is among them
      const bool right = std::any_of(op.structure.begin(), op.structure.end(), [&](std::string_view c) {
        return std::find(raised.begin(), raised.end(), c) != raised.end();
      });
      EXPECT_TRUE(right) << testing::PrintToString(raised) << ir::print(*damaged);
    }
  }
  for (const std::string_view name : {"reserved-register", "untied-operand", "early-clobber-in-use", "not-in-fixed-register",
                                      "misaligned-tuple", "shorter-clobber", "slot-too-small", "overlapping-slots",
                                      "slot-outside-frame", "flipped-guard", "other-targets", "nothing-allocated"})
    EXPECT_TRUE(apply(name, 1).has_value()) << name;
}

// A limit may be above what the file has: a reserved register there would be above the limit before it is reserved.
TEST_F(General, AReservedRegisterIsOneOfTheFile) {
  limits.units[ir::index(ir::RegFile::R)] = target.units[ir::index(ir::RegFile::R)] + 10;
  const auto unit = static_cast<std::uint16_t>(target.units[ir::index(ir::RegFile::R)]);
  target.reserved = {{ir::RegFile::R, 2, unit}};
  for (std::uint64_t seed = 0; seed < 10; ++seed) EXPECT_FALSE(apply("reserved-register", seed).has_value());
}

TEST_F(General, UntiedOperandChangesTheTieAlone) {
  const auto damaged = apply("untied-operand", 3);
  ASSERT_TRUE(damaged.has_value());
  EXPECT_THAT(categories(*damaged, "structure"), testing::ElementsAre("tied-operand"));
  const auto& ops = damaged->operands;
  EXPECT_EQ(ops.size(), after.operands.size());
  int changed = 0;
  for (std::size_t k = 0; k < ops.size(); ++k) changed += ops[k] == after.operands[k] ? 0 : 1;
  EXPECT_EQ(changed, 1);
}

TEST_F(General, EarlyClobberStandsInAUse) {
  const auto damaged = apply("early-clobber-in-use", 3);
  ASSERT_TRUE(damaged.has_value());
  EXPECT_THAT(ir::print(*damaged), testing::HasSubstr("#6 R1 = atom R1, R2:R3"));
}

TEST_F(General, HalfSpillStoresHalf) {
  const auto damaged = apply("half-spill", 1);
  ASSERT_TRUE(damaged.has_value());
  EXPECT_THAT(ir::print(*damaged), testing::HasSubstr("+20 spill R2, slot 0"));
  EXPECT_THAT(categories(*damaged, "memcheck"), testing::ElementsAre("memcheck-1-spill-refill-mismatch"));
}

TEST_F(General, SameSeedSameFault) {
  for (const FaultOperator& op : fault_operators()) {
    const auto one = apply(op.name, 7), other = apply(op.name, 7);
    ASSERT_EQ(one.has_value(), other.has_value()) << op.name;
    if (one) {
      EXPECT_EQ(ir::print(*one), ir::print(*other)) << op.name;
    }
  }
}

TEST_F(General, WithoutAPlaceThereIsNoFault) {
  before = parse_function("func @e kernel target sm_90 threads 256\n  block b0\n    #0 exit\n");
  after = parse_function("func @e kernel target sm_90 threads 256 allocated\n  block b0\n    #0 exit\n");
  std::vector<std::string_view> applied;
  for (const FaultOperator& op : fault_operators())
    if (apply(op.name, 1)) applied.push_back(op.name);
  EXPECT_THAT(applied, testing::ElementsAre("other-header", "nothing-allocated"));
}

TEST(Operators, AreMany) {
  std::set<std::string_view> names, categories;
  std::set<int> codes;
  for (const FaultOperator& op : fault_operators()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_FALSE(op.what.empty()) << op.name;
    codes.insert(op.memcheck.begin(), op.memcheck.end());
    categories.insert(op.structure.begin(), op.structure.end());
  }
  EXPECT_GE(names.size(), 110u);
  EXPECT_THAT(codes, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_GE(categories.size(), 38u);
}

}  // namespace
}  // namespace regduel::trial
