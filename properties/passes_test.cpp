// Passes before the judges: a right one is accepted, before each allocator and alone, and each wrong one is found out.

#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/judges.h"
#include "oracles/pair/constraints.h"
#include "passes/in_memory.h"
#include "passes/pass_allocator.h"
#include "passes/passes.h"
#include "passes/take_back.h"
#include "properties/arbitrary.h"

namespace regduel::properties {
namespace {

using oracles::Verdict;

// What the judges say of a pair of programs over vregs.
oracles::Report judge_alone(const ir::Function& before, const ir::Function& after, const ir::Target& target) {
  const auto allocation = passes::allocate_in_memory(after, target);
  if (!allocation) return {};
  const ir::Function back = passes::take_back(before, *allocation);
  const oracles::Case c{before, back, target, ir::Limits::of(target)};
  oracles::Report report = oracles::judge(c);
  report.results.push_back(oracles::judge_constraints(before, after, target));
  return report;
}
std::string findings_of(const oracles::Report& report) {
  std::string text;
  for (const oracles::JudgeResult& r : report.results)
    for (const oracles::Finding& f : r.findings) text += f.judge + "/" + f.category + ": " + f.message + "\n";
  return text;
}

RC_GTEST_PROP(Passes, BeforeAnAllocatorEveryJudgeAcceptsThem, (const duel::Case& input)) {
  for (const passes::Pass* pass : passes::passes())
    for (const ir::Allocator* allocator : duel::all_duelists()) {
      const passes::PassAllocator both(*pass, *allocator);
      const std::array<const ir::Allocator*, 1> duelists = {&both};
      for (const duel::Bout& b : duel::duel(input, {.duelists = duelists}).bouts) {
        for (const oracles::Finding& f : b.findings()) RC_LOG() << f.judge << "/" << f.category << ": " << f.message << "\n";
        RC_ASSERT(b.verdict() != Verdict::Fail);
      }
    }
}

RC_GTEST_PROP(Passes, AloneEveryJudgeAcceptsThem, (const duel::Case& input)) {
  const oracles::Report nothing_done = judge_alone(input.program, input.program, *input.target);
  RC_LOG() << findings_of(nothing_done);
  RC_ASSERT(nothing_done.verdict() != Verdict::Fail);
  for (const passes::Pass* pass : passes::passes()) {
    if (pass->rewrites()) continue;  // properties/rewritings_test.cpp
    const auto result = pass->run(input.program, *input.target, {});
    RC_ASSERT(result.has_value());
    const ir::Function& after = *result;
    RC_ASSERT(ir::check(after, *input.target, 1).empty());
    const oracles::Report report = judge_alone(input.program, after, *input.target);
    RC_LOG() << findings_of(report);
    RC_ASSERT(report.verdict() != Verdict::Fail);
  }
}

// What it makes of one program is given: a mistake of a pass.
class Mistaken final : public passes::Pass {
 public:
  explicit Mistaken(ir::Function after) : after_(std::move(after)) {}
  std::string_view name() const override { return "mistaken"; }
  std::string_view what_it_does() const override { return "what it was told"; }
  std::expected<ir::Function, std::string> run(const ir::Function&, const ir::Target&, const passes::PassOptions&) const override {
    return after_;
  }

 private:
  ir::Function after_;
};

struct Mistake {
  const char* what;
  std::string_view before, from, to;  // one line of it, replaced: by "" for one that is left out
  // A read without a definition: an allocator may happen to put it where the right value is. Then only the pair of programs shows
  // it.
  bool is_undefined = false;
};

constexpr std::string_view kStraight =
    "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  vreg %3 R b32\n  block "
    "b0\n"
    "    #0 %0 = ld 0\n    #1 %3 = ld 1\n    #2 %2 = setp %3\n    #3 %1 = copy %0\n    #4 %0 = add %0, 1\n    #5 st %1, %0 !write\n"
    "    #6 @%2 %1 = copy %3\n    #7 st %1, %3 !write\n    #8 %0, %3 = copy %3, %0\n    #9 st %0, %3 !write\n    #10 exit\n";
constexpr std::string_view kJoin =
    "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  vreg %3 R b32\n  block "
    "b0\n"
    "    #0 %0 = ld 0\n    #1 %1 = ld 1\n    #2 %2 = setp %0\n    #3 cbra %2 -> b1, b2\n  block b1\n    #4 %1 = copy %0\n    #5 "
    "bra -> b2\n"
    "  block b2\n    #6 %3 = phi b0: %0, b1: %1\n    #7 st %1, %3 !write\n    #8 cbra %2 -> b3, b4\n  block b3\n"
    "    #9 %1 = copy %0\n    #10 %0 = add %0, 1\n    #11 st %1 !write\n    #12 cbra %2 -> b3, b4\n  block b4\n    #13 exit\n";

const Mistake kMistakes[] = {
    {"the source was written since", kStraight, "#5 st %1, %0", "#5 st %0, %0"},
    {"a guarded copy need not have happened", kStraight, "#7 st %1, %3", "#7 st %3, %3"},
    {"the other value of a swap", kStraight, "#9 st %0, %3", "#9 st %3, %3"},
    {"a copy that is read is left out", kStraight, "    #3 %1 = copy %0\n", ""},
    {"a guarded copy that is read is left out", kStraight, "    #6 @%2 %1 = copy %3\n", ""},
    {"a copy on one path only", kJoin, "#7 st %1, %3", "#7 st %0, %3"},
    {"a phi of two values is left out", kJoin, "    #6 %3 = phi b0: %0, b1: %1\n", "", true},
    {"a phi's use of what the other path holds", kJoin, "#6 %3 = phi b0: %0", "#6 %3 = phi b0: %1"},
    {"a source that the loop writes", kJoin, "#11 st %1", "#11 st %0"},
    {"a read without a definition", kJoin, "#2 %2 = setp %0", "#2 %2 = setp %3", true},
};

ir::Function parsed(const std::string& text) {
  const auto module = ir::parse(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}

TEST(PassesJudged, EachMistakeIsFoundBeforeEachAllocatorAndAlone) {
  for (const Mistake& m : kMistakes) {
    SCOPED_TRACE(m.what);
    std::string text(m.before);
    const std::size_t at = text.find(m.from);
    ASSERT_NE(at, std::string::npos);
    const ir::Function before = parsed(text), after = parsed(text.replace(at, m.from.size(), m.to));
    const ir::Target& target = ir::default_target();
    EXPECT_NE(judge_alone(before, before, target).verdict(), Verdict::Fail);
    EXPECT_EQ(judge_alone(before, after, target).verdict(), Verdict::Fail);
    const Mistaken pass(after);
    for (const ir::Allocator* allocator : duel::all_duelists()) {
      const passes::PassAllocator both(pass, *allocator);
      const std::array<const ir::Allocator*, 1> duelists = {&both};
      const Verdict verdict = duel::duel({before, target}, {.duelists = duelists, .limits = ir::Limits::of(target, 8)}).verdict();
      EXPECT_TRUE(m.is_undefined || verdict == Verdict::Fail) << both.name();
    }
  }
}

TEST(PassesJudged, APassBeforeAnAllocatorIsFoundByName) {
  const ir::Allocator* both = duel::find_allocator("copyprop+briggs");
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->name(), "copyprop+briggs");
  EXPECT_EQ(duel::find_allocator("copyprop+briggs"), both);
  EXPECT_NE(duel::find_allocator("copyprop+copyprop+fatpoint"), nullptr);
  EXPECT_EQ(duel::find_allocator("copyprop+nobody"), nullptr);
  EXPECT_EQ(duel::find_allocator("nothing+fatpoint"), nullptr);
  EXPECT_EQ(duel::find_allocator("copyprop+"), nullptr);
  EXPECT_EQ(duel::all_duelists().size(), duel::allocator_names().size()) << "passes take part only where they are asked for";
}

}  // namespace
}  // namespace regduel::properties
