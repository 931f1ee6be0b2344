// The exact allocator on random programs: every judge accepts what it makes, and nobody needs fewer registers without spilling.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "generate/standard_mix.h"
#include "oracles/before.h"
#include "oracles/judges.h"
#include "oracles/quality/quality.h"

namespace regduel::properties {
namespace {

TEST(ExactAllocator, IsRightAndNobodyIsBetter) {
  int proved = 0, as_good = 0;
  for (std::uint64_t index = 0; index < 150; ++index) {
    const generate::StandardCase c = generate::standard_mix(23, index);
    if (c.program.insts.size() > 400) continue;
    SCOPED_TRACE(index);
    const ir::Target& target = *ir::find_target(c.target);
    ir::AllocOptions options;
    options.limits = ir::Limits::of(target);
    const auto exact = duel::find_allocator("exact")->allocate(c.program, target, options);
    if (!exact) continue;  // a file that does not fit without spilling, whatever the limit: predicates, mostly
    const oracles::Before before(c.program, target);
    const oracles::Report report = oracles::judge({before, exact->program, options.limits, &exact->claims});
    EXPECT_NE(report.verdict(), oracles::Verdict::Fail);
    const auto is_proved = [](const std::string& note) { return note.find("the fewest without splitting") != std::string::npos; };
    if (!std::all_of(exact->notes.begin(), exact->notes.end(), is_proved)) continue;
    ++proved;
    const auto briggs = duel::find_allocator("briggs")->allocate(c.program, target, options);
    ASSERT_TRUE(briggs.has_value());
    const oracles::Measures fewest = oracles::measure(before, exact->program),
                            heuristic = oracles::measure(before, briggs->program);
    // Both colour the same graphs where nothing is spilled.
    if (heuristic.spill_stores + heuristic.spill_loads > 0) continue;
    EXPECT_LE(fewest.registers[ir::index(ir::RegFile::R)], heuristic.registers[ir::index(ir::RegFile::R)]);
    as_good += fewest.registers == heuristic.registers ? 1 : 0;
  }
  EXPECT_GT(proved, 40);
  EXPECT_GT(as_good, 20);
}

}  // namespace
}  // namespace regduel::properties
