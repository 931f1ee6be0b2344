// The liveness of the reference, value by value, against its equations (reference/program/liveness.h) solved block by block, on the
// standard mix with some values in memory.

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "fuzz/generate/standard_mix.h"
#include "fuzz/properties/liveness_equations.h"
#include "reference/program/liveness.h"
#include "reference/program/loops.h"
#include "reference/program/lower.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::fuzz {
namespace {

using reference::Code;
using reference::TempId;

// Unreachable blocks read and write nothing.
SolvedLiveness solve(const Code& code) {
  const std::size_t blocks = code.blocks.size(), values = code.num_values;
  LivenessEquations e(blocks, values);
  for (std::size_t b = 0; b < blocks; ++b) {
    if (!code.blocks[b].is_reachable) continue;
    for (const reference::CodeInst& inst : code.insts_of(code.blocks[b])) {
      for (const reference::Ref& r : code.refs_of(inst))
        if (r.temp < values && (r.flags & reference::kReads) != 0 && e.killed[b][r.temp] == 0) e.exposed[b][r.temp] = 1;
      for (const reference::Ref& r : code.refs_of(inst)) {
        if (r.temp >= values) continue;
        if ((r.flags & reference::kWrites) != 0) e.written[b][r.temp] = 1;
        if ((r.flags & reference::kKills) != 0) e.killed[b][r.temp] = 1;
      }
    }
  }
  return solve(
      e,
      [&](std::size_t b, auto&& see) {
        for (const std::uint32_t p : code.predecessors[b]) see(p);
      },
      [&](std::size_t b, auto&& see) {
        for (const std::uint32_t t : code.successors[b]) see(t);
      });
}

TEST(ReferenceLiveness, SolvesItsEquations) {
  std::size_t live = 0;
  Random random(5);
  for (std::uint64_t n = 0; n < 600; ++n) {
    const ir::Function f = standard_mix(32, n).program;
    const ir::Target& target = *ir::find_target(f.target);
    const ir::Cfg cfg(f);
    const reference::Problem problem(f, cfg, target, ir::Limits::of(target), reference::block_frequencies(f, cfg, 10));
    reference::Plan plan = problem.all_in_registers();
    if (n % 2 == 1)
      for (TempId v = 0; v < plan.locations.size(); ++v)
        if (random.below(4) == 0 && plan.locations[v].is_register() && !problem.values()[v].fixed.is_valid())
          plan.locations[v] = reference::Location::in_slot(plan.add_slot(problem.values()[v].bytes));
    const Code code = reference::lower(problem, plan);
    const reference::Liveness liveness(code);
    const SolvedLiveness s = solve(code);
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
      std::vector<TempId> in, out;
      for (TempId v = 0; v < code.num_values; ++v) {
        if (s.in[b][v] != 0) in.push_back(v);
        if (s.out[b][v] != 0) out.push_back(v);
      }
      ASSERT_TRUE(std::ranges::equal(liveness.live_in(b), in)) << "head of block " << b << ", case " << n;
      ASSERT_TRUE(std::ranges::equal(liveness.live_out(b), out)) << "end of block " << b << ", case " << n;
      live += in.size() + out.size();
    }
  }
  EXPECT_GT(live, 10'000u);
}

}  // namespace
}  // namespace regduel::fuzz
