// The liveness of the reference, value by value, against its equations (reference/program/liveness.h) solved block by block and
// byte by byte, on the standard mix with some values in memory.

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "generate/standard_mix.h"
#include "properties/liveness_equations.h"
#include "reference/program/liveness.h"
#include "reference/program/lower.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::properties {
namespace {

using reference::Code;
using reference::TempId;

// A name of the equations for each byte of each value: those of v are [first[v], first[v + 1]).
std::vector<std::size_t> names_of(const Code& code) {
  std::vector<std::size_t> first = {0};
  for (TempId v = 0; v < code.num_values; ++v) first.push_back(first.back() + code.temps[v].bytes);
  return first;
}

// Unreachable blocks read and write nothing.
SolvedLiveness solve(const Code& code, const std::vector<std::size_t>& first) {
  const std::size_t blocks = code.blocks.size(), values = code.num_values;
  LivenessEquations e(blocks, first.back());
  const auto each_byte = [&](TempId v, reference::ByteMask bytes, auto&& see) {
    for (std::size_t k = 0; k < code.temps[v].bytes; ++k)
      if ((bytes >> k & 1) != 0) see(first[v] + k);
  };
  for (std::size_t b = 0; b < blocks; ++b) {
    if (!code.blocks[b].is_reachable) continue;
    for (const reference::CodeInst& inst : code.insts_of(code.blocks[b])) {
      for (const reference::Ref& r : code.refs_of(inst))
        if (r.temp < values)
          each_byte(r.temp, code.bytes_of(r).reads, [&](std::size_t n) {
            if (e.killed[b][n] == 0) e.exposed[b][n] = 1;
          });
      for (const reference::Ref& r : code.refs_of(inst)) {
        if (r.temp >= values) continue;
        const bool kills = (r.flags & reference::kKillsBytes) != 0;
        each_byte(r.temp, code.bytes_of(r).writes, [&](std::size_t n) {
          e.written[b][n] = 1;
          if (kills) e.killed[b][n] = 1;
        });
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
  for (std::uint64_t n = 0; n < 300; ++n) {
    const ir::Function f = generate::standard_mix(32, n).program;
    const ir::Target& target = *ir::find_target(f.target);
    const ir::Cfg cfg(f);
    const reference::Problem problem(f, cfg, target, ir::Limits::of(target), 10);
    if (problem.impossible()) continue;
    reference::Plan plan = problem.all_in_registers();
    if (n % 2 == 1)
      for (TempId v = 0; v < plan.locations.size(); ++v)
        if (random.below(4) == 0 && plan.locations[v].is_register() && !problem.values()[v].fixed.is_valid())
          plan.locations[v] = reference::Location::in_slot(plan.add_slot(problem.values()[v].bytes));
    const Code code = reference::lower(problem, plan);
    const reference::Liveness liveness(code);
    const std::vector<std::size_t> first = names_of(code);
    const SolvedLiveness s = solve(code, first);
    const auto is_live = [&](const std::vector<char>& row, TempId v) {
      return std::any_of(row.begin() + static_cast<std::ptrdiff_t>(first[v]),
                         row.begin() + static_cast<std::ptrdiff_t>(first[v + 1]), [](char byte) { return byte != 0; });
    };
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
      std::vector<TempId> in, out;
      for (TempId v = 0; v < code.num_values; ++v) {
        if (is_live(s.in[b], v)) in.push_back(v);
        if (is_live(s.out[b], v)) out.push_back(v);
      }
      ASSERT_TRUE(std::ranges::equal(liveness.live_in(b), in)) << "head of block " << b << ", case " << n;
      ASSERT_TRUE(std::ranges::equal(liveness.live_out(b), out)) << "end of block " << b << ", case " << n;
      live += in.size() + out.size();
    }
  }
  EXPECT_GT(live, 10'000u);
}

}  // namespace
}  // namespace regduel::properties
