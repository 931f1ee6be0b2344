// Golden text: each file of passes/llvm/testdata/ is a program, and below the mark what the pass does, decision by decision, and
// what it makes of it. What each knob changes on random programs: properties/pass_knobs_test.cpp.

#include "passes/llvm/llvm.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "base/testing.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "passes/llvm/verify.h"
#include "passes/testing.h"

namespace regduel::passes {
namespace {

constexpr std::string_view kMark = "\n// llvm\n", kFolder = "passes/llvm/testdata";
using Knobs = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> files() { return testing::files_of(kFolder); }
std::string head_of(const std::string& file) { return testing::head_of(file, kMark); }
using testing::parsed;
ir::Function program_of(const std::string& file) { return parsed(head_of(file) + "\n"); }

struct Lines final : ir::Trace {
  std::string text;
  void line(std::string s) override { text += "// " + s + "\n"; }
};
ir::Function run(const ir::Function& f, const Knobs& knobs = {}, ir::Trace* trace = nullptr) {
  const auto after = llvm_coalescer().run(f, ir::default_target(), {.knobs = knobs, .trace = trace});
  EXPECT_TRUE(after.has_value());
  return *after;
}
std::size_t copies_in(const ir::Function& f) {
  return static_cast<std::size_t>(std::count_if(f.insts.begin(), f.insts.end(), [](const ir::Inst& i) { return i.is_copy(); }));
}

TEST(Llvm, Golden) {
  ASSERT_FALSE(files().empty());
  for (const std::string& file : files()) {
    Lines trace;
    const ir::Function after = run(program_of(file), {}, &trace);
    EXPECT_TRUE(ir::check(after, 1).empty()) << file;
    std::string head = head_of(file);
    while (head.ends_with('\n')) head.pop_back();
    expect_golden(file, head + "\n" + std::string(kMark) + trace.text + ir::print(after));
  }
}

TEST(Llvm, WithoutFuelTheProgramStaysAsItIs) {
  for (const std::string& file : files()) {
    const ir::Function f = program_of(file);
    ir::Fuel none{.limit = 0};
    EXPECT_EQ(ir::print(*llvm_coalescer().run(f, ir::default_target(), {.fuel = &none})), ir::print(f)) << file;
  }
}

TEST(Llvm, EachDecisionIsOneUnitOfFuel) {
  for (const std::string& file : files()) {
    const ir::Function f = program_of(file);
    const std::string all = ir::print(run(f));
    ir::Fuel enough;
    EXPECT_EQ(ir::print(*llvm_coalescer().run(f, ir::default_target(), {.fuel = &enough})), all);
    ir::Fuel less{.limit = enough.spent - 1};
    EXPECT_NE(ir::print(*llvm_coalescer().run(f, ir::default_target(), {.fuel = &less})), all) << file;
  }
}

// Under a guard, and of a value that an allocator may compute again: left out, the judges could not follow the value behind it.
TEST(Llvm, AGuardedCopyStaysWhereAnAllocatorMayComputeItsValueAgain) {
  const std::string head =
      R"(rir 1
func @f kernel target sm_90 threads 1
  vreg %0 R b32
  vreg %1 P pred
  vreg %2 R b32
  block b0
)";
  const std::string undefined =
      R"(    #0 %0, %1 = ld
    #1 %0 = op !remat
    #2 @%1 %0 = copy %2
    #3 st %0 !write
    #4 exit
)";
  EXPECT_EQ(copies_in(run(parsed(head + undefined))), 1u);
  const std::string defined =
      R"(    #0 %0, %1 = ld
    #1 %0 = op !remat
    #2 @%1 %2 = copy %0
    #3 @%1 st %2 !write
    #4 exit
)";
  EXPECT_EQ(copies_in(run(parsed(head + defined))), 1u);
}

TEST(Llvm, RefusesWhatIsNoKnob) {
  const Knobs knobs = {{"llvm-no-such", "1"}};
  EXPECT_FALSE(llvm_coalescer().run(program_of(files()[0]), ir::default_target(), {.knobs = knobs}).has_value());
}

TEST(Llvm, VerificationSaysWhenInTheTrace) {
  Lines without, with;
  const ir::Function f = program_of("passes/llvm/testdata/copies.rir");
  const std::string plain = ir::print(run(f, {}, &without));
  EXPECT_EQ(ir::print(run(f, {{"llvm-verify-coalescing", "true"}}, &with)), plain);
  EXPECT_EQ(without.text.find("register coalescing"), std::string::npos);
  EXPECT_TRUE(with.text.starts_with("// Before register coalescing\n")) << with.text;
  EXPECT_TRUE(with.text.ends_with("// After register coalescing\n")) << with.text;
}

TEST(Llvm, VerificationFindsWhatIsNotWellFormed) {
  ir::Function f = program_of("passes/llvm/testdata/copies.rir");
  f.operands[0].set_vreg(ir::VRegId(1000));
  EXPECT_ANY_THROW(llvm::verify(f, ir::default_target(), "Before register coalescing", nullptr));
}

TEST(Llvm, WithoutJoiningOnlyTiesChange) {
  const ir::Function f = program_of("passes/llvm/testdata/copies.rir");
  EXPECT_EQ(ir::print(run(f, {{"llvm-join-liveintervals", "false"}})), ir::print(f));
  const ir::Function ties = program_of("passes/llvm/testdata/ties.rir");
  EXPECT_GT(copies_in(run(ties, {{"llvm-join-liveintervals", "false"}})), copies_in(ties));
}

// %1 on the split critical edge b1, %3 by a phi on the critical edge b0 -> b3.
constexpr const char* kSplitEdge =
    R"(rir 1
func @f kernel target sm_90 threads 1
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b32
  block b0
    #0 %0, %2 = ld
    #1 mbra %0 -> b1, b2, b3
  block b1
    #2 %1 = copy %0
    #3 bra -> b4
  block b2
    #4 %1 = ld
    #5 cbra %2 -> b4, b3
  block b3
    #6 %3 = phi b0: %0, b2: %1
    #7 st %3 !write
    #8 exit
  block b4
    #9 st %1 !write
    #10 exit
)";

TEST(Llvm, WithoutSplitEdgesTheirCopiesStay) {
  EXPECT_EQ(copies_in(run(parsed(kSplitEdge))), 0u);
  const ir::Function after = run(parsed(kSplitEdge), {{"llvm-join-splitedges", "false"}});
  EXPECT_EQ(ir::print(after), ir::print(parsed(kSplitEdge)));
}

TEST(Llvm, WithoutGlobalCopiesThoseBetweenLongLivedSidesStay) {
  const ir::Function f = parsed(
      R"(rir 1
func @f kernel target sm_90 threads 1
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  block b0
    #0 %0 = ld
    #1 bra -> b1
  block b1
    #2 %1 = copy %0
    #3 %2 = copy %1
    #4 st %2 !write
    #5 bra -> b2
  block b2
    #6 st %1 !write
    #7 exit
)");
  EXPECT_EQ(copies_in(run(f)), 0u);
  EXPECT_EQ(copies_in(run(f, {{"llvm-join-globalcopies", "false"}})), 1u);
}

TEST(Llvm, TheTerminalRuleLetsTheCopyOfMoreCopiesGoFirst) {
  const ir::Function f = program_of("passes/llvm/testdata/order.rir");
  EXPECT_NE(ir::print(run(f, {{"llvm-terminal-rule", "false"}})), ir::print(run(f)));
}

TEST(Llvm, WithoutReschedulingATieIsCopied) {
  const ir::Function f = program_of("passes/llvm/testdata/ties.rir");
  EXPECT_GT(copies_in(run(f, {{"llvm-twoaddr-reschedule", "false"}})), copies_in(run(f)));
}

// The copy in b3 goes first and cannot be joined; so the constant is repeated, and then %0 ends at the copy in b1, which can be
// joined where %0's interval shrinks at once. Where it does not, the constant is repeated there as well.
TEST(Llvm, ALateUpdateKeepsAnIntervalLarge) {
  const ir::Function f = parsed(
      R"(rir 1
func @f kernel target sm_90 threads 1
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  block b0
    #0 %0 = const 7 !remat
    #1 %1 = ld
    #2 st %1 !write
    #3 bra -> b1
  block b1
    #4 %2 = copy %0
    #5 %2 = add %2, 1
    #6 bra -> b2
  block b2
    #7 st %2 !write
    #11 bra -> b3
  block b3 depth 1
    #8 %1 = copy %0
    #9 st %1 !write
    #10 exit
)");
  Lines at_once, late;
  EXPECT_EQ(copies_in(run(f, {{"llvm-late-remat-update-threshold", "2"}}, &at_once)), 0u);
  EXPECT_EQ(copies_in(run(f, {{"llvm-late-remat-update-threshold", "1"}}, &late)), 0u);
  EXPECT_EQ(at_once.text, "// repeat #0 for %1 and %0 at #8\n// join %2 and %0 at #4\n");
  EXPECT_EQ(late.text, "// repeat #0 for %1 and %0 at #8\n// repeat #0 for %2 and %0 at #4\n");
}

// A star: each copy is joined with the same interval, which gets a value more each time.
std::string star(int copies) {
  std::string vregs = R"(rir 1
func @f kernel target sm_90 threads 1
  vreg %0 R b32
)",
              insts = "  block b0\n    #0 %0 = ld\n";
  int id = 1;
  for (int k = 1; k <= copies; ++k) {
    vregs += fmt::format("  vreg %{} R b32\n", k);
    insts += fmt::format("    #{} %{} = copy %{}\n    #{} %{} = add %{}, 1\n", id, k, k - 1, id + 1, k, k);
    id += 2;
  }
  return vregs + insts + fmt::format("    #{} st %{} !write\n    #{} exit\n", id, copies, id + 1);
}

TEST(Llvm, ALargeIntervalIsTriedSoOftenAndNoMore) {
  const ir::Function f = parsed(star(200));
  EXPECT_EQ(copies_in(run(f)), 0u);
  const std::size_t left =
      copies_in(run(f, {{"llvm-large-interval-size-threshold", "10"}, {"llvm-large-interval-freq-threshold", "5"}}));
  EXPECT_GT(left, 0u);
  const std::size_t more =
      copies_in(run(f, {{"llvm-large-interval-size-threshold", "10"}, {"llvm-large-interval-freq-threshold", "0"}}));
  EXPECT_GT(more, left);
}

}  // namespace
}  // namespace regduel::passes
