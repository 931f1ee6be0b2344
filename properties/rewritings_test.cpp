// Rewriting passes on random programs before the judge of rewritings.

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "generate/standard_mix.h"
#include "ir/check.h"
#include "oracles/rewrite/rewrite.h"
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
