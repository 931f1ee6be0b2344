// The least by point on random programs of all profiles: its allocations pass all judges, and cost no less than it says and no more than
// those of the allocators of narrower classes.

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "duel/duel.h"
#include "generate/generator.h"
#include "ir/prover.h"

namespace regduel::properties {
namespace {

TEST(ByPoint, NobodyOfANarrowerClassCostsLess) {
  const std::array<const ir::Allocator*, 5> duelists = {duel::find_allocator("exact-split"), duel::find_allocator("linear-scan"),
                                                        duel::find_allocator("chordal"), duel::find_allocator("chaitin-briggs"),
                                                        duel::find_allocator("irc")};
  const auto& prover = dynamic_cast<const ir::Prover&>(*duelists[0]);
  const ir::Target& target = ir::default_target();
  int proved = 0, less = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto profile = generate::profiles()[seed % generate::kNumProfiles];
    const ir::Function f = generate::generate({.profile = profile, .seed = seed, .size = 40});
    const ir::Limits limits = ir::Limits::of(target, 8 + static_cast<int>(seed % 16));
    std::vector<ir::Bound> bounds;
    ir::AllocOptions options;
    options.limits = limits;
    const auto answer = prover.prove(f, target, options, bounds);
    const oracles::Before before(f, target);
    const duel::Duel d = duel::duel(before, {.duelists = duelists, .limits = limits});
    for (const duel::Bout& b : d.bouts)
      for (const oracles::Finding& finding : b.findings())
        ADD_FAILURE() << "seed " << seed << ", " << b.allocator << ": " << finding.message;
    if (!answer) continue;
    ASSERT_EQ(bounds.size(), 1u);
    const bool is_proved = answer->notes.size() == 1 && answer->notes[0].ends_with("the least by point");
    if (is_proved) {
      EXPECT_EQ(d.bouts[0].measures.weighted_spill_bytes, bounds[0].at_least) << "seed " << seed;
    }
    proved += is_proved;
    for (const duel::Bout& b : d.bouts) {
      if (!b.program) continue;
      EXPECT_GE(b.measures.weighted_spill_bytes, bounds[0].at_least) << "seed " << seed << ", " << b.allocator;
      less += b.measures.weighted_spill_bytes > bounds[0].at_least;
    }
  }
  EXPECT_GE(proved, 130);
  EXPECT_GE(less, 100);
}

}  // namespace
}  // namespace regduel::properties
