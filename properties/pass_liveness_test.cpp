// The liveness that passes start from, root by root, against its equations (passes/liveness.h) solved block by block.

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "generate/standard_mix.h"
#include "ir/cfg.h"
#include "passes/liveness.h"
#include "properties/liveness_equations.h"

namespace regduel::properties {
namespace {

using ir::BlockId;

SolvedLiveness solve(const ir::Function& f, const ir::Cfg& cfg) {
  const std::size_t blocks = f.blocks.size();
  LivenessEquations e(blocks, f.vregs.size());
  for (std::size_t b = 0; b < blocks; ++b)
    for (const ir::Inst& i : f.insts_of(BlockId(b))) {
      const auto ops = f.operands_of(i);
      const bool is_guarded = ir::is_guarded(ops);
      for (std::size_t k = 0; k < ops.size(); ++k) {
        if (!ops[k].is_vreg()) continue;
        const std::size_t root = f.root(ops[k].vreg()).index();
        if (f.vregs[root].is_architectural()) continue;
        if (i.is_phi() && k > 0) e.edge_reads[f.targets_of(i)[k - 1].index()][root] = 1;
        else if (passes::needs_old_value(f, ops[k], is_guarded) && e.killed[b][root] == 0) e.exposed[b][root] = 1;
      }
      for (const ir::Operand& def : ir::defs_of(ops)) {
        if (!def.is_vreg() || f.vreg(f.root(def.vreg())).is_architectural()) continue;
        e.written[b][f.root(def.vreg()).index()] = 1;
        if (passes::kills(f, def, is_guarded)) e.killed[b][f.root(def.vreg()).index()] = 1;
      }
    }
  return solve(
      e,
      [&](std::size_t b, auto&& see) {
        for (const BlockId p : cfg.predecessors(BlockId(b))) see(p.index());
      },
      [&](std::size_t b, auto&& see) {
        for (const BlockId t : cfg.successors(BlockId(b))) see(t.index());
      });
}

TEST(PassLiveness, SolvesItsEquations) {
  std::size_t live = 0;
  for (std::uint64_t n = 0; n < 600; ++n) {
    const ir::Function f = generate::standard_mix(31, n).program;
    const ir::Cfg cfg(f);
    const passes::Liveness liveness(f, cfg);
    const SolvedLiveness s = solve(f, cfg);
    for (std::size_t b = 0; b < f.blocks.size(); ++b) {
      std::vector<ir::VRegId> in, out;
      for (std::size_t v = 0; v < f.vregs.size(); ++v) {
        if (s.in[b][v] != 0) in.emplace_back(v);
        if (s.out[b][v] != 0) out.emplace_back(v);
      }
      const auto live_in = liveness.live_in(BlockId(b)), live_out = liveness.live_out(BlockId(b));
      ASSERT_TRUE(std::ranges::equal(live_in, in)) << "head of b" << b << ", case " << n;
      ASSERT_TRUE(std::ranges::equal(live_out, out)) << "end of b" << b << ", case " << n;
      live += in.size() + out.size();
    }
  }
  EXPECT_GT(live, 10'000u);
}

}  // namespace
}  // namespace regduel::properties
