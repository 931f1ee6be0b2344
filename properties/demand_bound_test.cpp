// The generator's own bound on the demand, against the judge's exact answer.
#include <gtest/gtest.h>

#include "duel/case.h"
#include "fuzz/edit/mutator.h"
#include "generate/generator.h"
#include "oracles/completeness.h"

namespace regduel::properties {
namespace {

TEST(DemandBound, IsABoundAndMostlyExact) {
  int programs = 0, exact = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    duel::Case input = duel::derive_case(seed);
    if (seed % 2 == 1) fuzz::mutate(input, seed);
    const ir::PerFile<int> bound = generate::demand_bound(input.program, *input.target);
    ir::Limits limits = ir::Limits::of(*input.target);
    bool inside = true;
    for (std::size_t k = 0; k < bound.size(); ++k) {
      inside = inside && bound[k] <= limits.units[k];
      limits.units[k] = std::min(limits.units[k], bound[k]);
    }
    if (!inside) continue;  // a mutant that fits nowhere
    EXPECT_FALSE(oracles::find_impossible(input.program, *input.target, limits).has_value()) << seed;
    ++programs;
    ir::Limits less = limits;
    --less.units[ir::index(ir::RegFile::R)];
    exact += oracles::find_impossible(input.program, *input.target, less).has_value() ? 1 : 0;
  }
  EXPECT_GE(programs, 380);
  EXPECT_GE(exact, programs * 3 / 4);
}

}  // namespace
}  // namespace regduel::properties
