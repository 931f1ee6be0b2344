// Rewriting passes on random programs before the judge of rewritings.

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "duel/duel.h"
#include "generate/standard_mix.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/rewrite/rewrite.h"
#include "passes/pass_allocator.h"
#include "passes/passes.h"

namespace regduel::properties {
namespace {

// "" where the judge has no objection.
std::string objection(const ir::Function& before, const ir::Function& after, const ir::Target& target) {
  if (const auto faults = ir::check(after, target, 1); !faults.empty()) return ir::to_string(after, faults[0]);
  const oracles::JudgeResult r = oracles::judge_rewrite(before, after, target);
  return r.findings.empty() ? "" : r.findings[0].category + ": " + r.findings[0].message;
}

TEST(Rewritings, TheJudgeAcceptsThemAloneAndOneAfterTheOther) {
  for (std::uint64_t n = 0; n < 300; ++n) {
    const generate::StandardCase c = generate::standard_mix(64, n);
    const ir::Target& target = *ir::find_target(c.target);
    ir::Function all = c.program;
    for (const passes::Pass* pass : passes::passes()) {
      if (!pass->rewrites()) continue;
      const auto after = pass->run(c.program, target, {});
      ASSERT_TRUE(after.has_value()) << after.error();
      ASSERT_EQ(objection(c.program, *after, target), "") << pass->name() << ", case " << n;
      all = *pass->run(all, target, {});
    }
    ASSERT_EQ(objection(c.program, all, target), "") << "case " << n;
  }
}

// What it makes of one program is given.
class Given final : public passes::Pass {
 public:
  explicit Given(ir::Function after) : after_(std::move(after)) {}
  std::string_view name() const override { return "given"; }
  std::string_view what_it_does() const override { return "what it was told"; }
  bool rewrites() const override { return true; }
  std::expected<ir::Function, std::string> run(const ir::Function&, const ir::Target&, const passes::PassOptions&) const override {
    return after_;
  }

 private:
  ir::Function after_;
};

TEST(Rewritings, AMistakeIsAFindingOfTheDuelBeforeEachAllocator) {
  const auto parsed = [](const std::string& text) { return ir::parse(text)->functions.front(); };
  const std::string text =
      "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  block b0\n    #0 %0 = ld 0 !read\n"
      "    #1 st 4, %0 !write\n    #2 exit\n";
  std::string wrong = text;
  wrong.replace(text.find("ld 0"), 4, "ld 8");
  const ir::Function before = parsed(text);
  for (const ir::Allocator* allocator : duel::all_duelists()) {
    const auto findings = [&](const std::string& after) {
      const Given pass(parsed(after));
      const passes::PassAllocator both(pass, *allocator);
      const std::array<const ir::Allocator*, 1> duelists = {&both};
      const duel::Duel d =
          duel::duel({before, ir::default_target()}, {.duelists = duelists, .limits = ir::Limits::of(ir::default_target(), 8)});
      EXPECT_TRUE(d.bouts[0].is_own_form);
      return d.bouts[0].signatures();
    };
    EXPECT_THAT(findings(text), testing::IsEmpty());
    EXPECT_THAT(findings(wrong), testing::ElementsAre("rewrite/wrong-value@st:use"));
  }
}

// The judge sees random programs damaged as a pass with a bug would: an effect's operand that is another value.
TEST(Rewritings, TheJudgeSeesAnotherValueInAnEffect) {
  int damaged = 0, seen = 0;
  for (std::uint64_t n = 0; n < 100; ++n) {
    const generate::StandardCase c = generate::standard_mix(65, n);
    const ir::Target& target = *ir::find_target(c.target);
    ir::Function after = c.program;
    // The first store of two whole registers of one kind gets them the other way round.
    for (const ir::Inst& i : after.insts) {
      const auto ops = after.operands_of(i);
      if (!i.has(ir::kMemWrite) || i.op != ir::Op::Named || ops.size() != 2 || !ops[0].is_vreg() || !ops[1].is_vreg()) continue;
      if (ops[0].role != ir::Role::Use || ops[1].role != ir::Role::Use || ops[0].vreg() == ops[1].vreg()) continue;
      std::swap(ops[0], ops[1]);
      ++damaged;
      seen += objection(c.program, after, target).empty() ? 0 : 1;
      break;
    }
  }
  EXPECT_GT(damaged, 10);
  EXPECT_GT(seen * 10, damaged * 9);
}

}  // namespace
}  // namespace regduel::properties
