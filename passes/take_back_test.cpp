#include "passes/take_back.h"

#include <array>

#include <gtest/gtest.h>

#include "ir/check.h"
#include "ir/text/text.h"
#include "passes/in_memory.h"
#include "passes/pass_allocator.h"
#include "passes/passes.h"

namespace regduel::passes {
namespace {

ir::Function parse(const std::string& text) {
  const auto module = ir::parse("rir 1\n" + text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}

const std::string kVRegs = R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
)";
const std::string kBefore = "func @f kernel target sm_90 threads 1\n" + kVRegs +
                            R"(  block b0
    #0 %0 = ld 0
    #1 %1 = copy<mov> %0
    #2 bra -> b1
  block b1
    #3 %2 = phi b0: %1, b1: %2
    #4 st %2 !write
    #5 mbra %2 -> b1, b2
  block b2
    #6 exit
)";

TEST(TakeBack, WhatThePassLeftOutIsDeletedAtItsPlace) {
  // Without #1 and the phi #3; the allocator has taken the free number 1, and a vreg of the pass is gone from the declarations.
  const ir::Function allocated = parse("func @f kernel target sm_90 threads 1 allocated\n" + kVRegs +
                                       R"(  vreg %3 R b64
  block b0
    #0 R0 = ld 0
    #2 bra -> b1
  block b1
    +1 R1 = copy R0
    #4 st R1 !write
    #5 mbra R1 -> b1, b2
  block b2
    #6 exit
)");
  const ir::Function back = take_back(parse(kBefore), allocated);
  EXPECT_TRUE(ir::check(back, 1).empty());
  EXPECT_EQ(ir::print(back), "func @f kernel target sm_90 threads 1 allocated\n" + kVRegs +
                                 R"(  block b0
    #0 R0 = ld 0
    #1 copy<mov> !deleted
    #2 bra -> b1
  block b1
    #3 phi !deleted
    +7 R1 = copy R0
    #4 st R1 !write
    #5 mbra R1 -> b1, b2
  block b2
    #6 exit
)");
}

TEST(TakeBack, CopiesOfThePassBecomeInsertedOnes) {
  const ir::Function allocated = parse("func @f kernel target sm_90 threads 1 allocated\n  frame local 4 shared 0\n" + kVRegs +
                                       R"(  slot 0 local size 4 align 4 offset 0
  block b0
    #0 R0 = ld 0
    #10 R1 = copy R0
    #11 spill R1, slot 0
    #12 copy !deleted
    #1 R0 = copy<mov> R0
    #2 bra -> b1
  block b1
    #3 phi !deleted
    #4 st R0 !write
    #5 mbra R0 -> b1, b2
  block b2
    #6 exit
)");
  const ir::Function back = take_back(parse(kBefore), allocated);
  std::string inserted;
  for (const ir::Inst& i : back.insts)
    if (i.is_inserted()) inserted += ir::print(back, i) + "\n";
  EXPECT_EQ(inserted, "+10 R1 = copy R0\n+11 spill R1, slot 0\n");
  EXPECT_EQ(back.insts.size(), allocated.insts.size() - 1);
}

// #10 and #11 repeat #0. The allocator repeats #10 once more, and has deleted #11, which a remat serves.
TEST(TakeBack, RepeatedDefsBecomeRematsOfWhatTheyRepeat) {
  const std::string head = "func @f kernel target sm_90 threads 1";
  const ir::Function before = parse(head + "\n" + kVRegs +
                                    R"(  block b0
    #0 %0 = const 7 !remat
    #1 %1 = copy %0
    #2 %2 = op "a" !remat
    #3 st %0, %1, %2 !write
    #4 exit
)");
  const ir::Function allocated = parse(head + " allocated\n" + kVRegs +
                                       R"(  block b0
    #0 R0 = const 7 !remat
    #10 R1 = const 7 !remat
    +12 R1 = remat #10 7
    #2 R2 = op "a" !remat
    #11 op !deleted !remat
    +13 R2 = remat #11 "a"
    #3 st R0, R1, R2 !write
    #4 exit
)");
  const ir::Function back = take_back(before, allocated);
  EXPECT_TRUE(ir::check(back, 1).empty());
  EXPECT_EQ(ir::print(back), head + " allocated\n" + kVRegs +
                                 R"(  block b0
    #0 R0 = const 7 !remat
    +10 R1 = remat #0 7
    +12 R1 = remat #0 7
    #1 copy !deleted
    #2 R2 = op "a" !remat
    +13 R2 = remat #2 "a"
    #3 st R0, R1, R2 !write
    #4 exit
)");
}

TEST(TakeBack, WithoutAPassInBetweenAnAllocationStaysAsItIs) {
  const ir::Function f = parse(kBefore);
  const auto allocated = allocate_in_memory(f, ir::default_target());
  ASSERT_TRUE(allocated.has_value());
  EXPECT_EQ(ir::print(take_back(f, *allocated)), ir::print(*allocated));
}

// Keeps everything in memory, and fails where there is one register.
class Plain final : public ir::Allocator {
 public:
  std::string_view name() const override { return "plain"; }
  std::span<const ir::KnobInfo> knobs() const override {
    static const ir::KnobInfo knob = {.name = "Knob"};
    return {&knob, 1};
  }
  std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                           const ir::AllocOptions& options) const override {
    if (options.limits.of(ir::RegFile::R) < 2) return std::unexpected(ir::AllocFailure{});
    return ir::Allocation{allocate_in_memory(program, target).value(), {}};
  }
};

TEST(PassAllocator, TheAllocatorSeesTheProgramAfterThePassAndTheJudgesTheOneBefore) {
  const Plain plain;
  const PassAllocator both(*find_pass("copyprop"), plain);
  EXPECT_EQ(both.name(), "copyprop+plain");
  EXPECT_EQ(both.knobs().size(), 1u);
  const ir::Function f = parse(kBefore);
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target());
  const auto allocation = both.allocate(f, ir::default_target(), options);
  ASSERT_TRUE(allocation.has_value());
  const ir::Function& after = allocation->program;
  std::size_t deleted = 0, originals = 0;
  for (const ir::Inst& i : after.insts) deleted += i.is_deleted() ? 1 : 0, originals += i.is_inserted() ? 0 : 1;
  EXPECT_EQ(deleted, 2u) << ir::print(after);
  EXPECT_EQ(originals, f.insts.size());
  options.limits = ir::Limits::of(ir::default_target(), 1);
  EXPECT_FALSE(both.allocate(f, ir::default_target(), options).has_value());
}

}  // namespace
}  // namespace regduel::passes
