// What knob FatPointLowerLimits is for: fewer weighted spill bytes, and at no limit more of them than at those tried below it.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz/duel/allocators.h"
#include "fuzz/generate/standard_mix.h"
#include "oracles/before.h"
#include "oracles/quality/quality.h"

namespace regduel::fuzz {
namespace {

constexpr std::uint64_t kPrograms = 100;

// Weighted spill bytes of case `n` of the mix at so many registers below its own limit.
std::int64_t weighted_bytes(std::uint64_t n, int below, int lower_limits) {
  const StandardCase c = standard_mix(5, n);
  const ir::Target& target = *ir::find_target(c.target);
  ir::AllocOptions options;
  options.limits = c.limits;
  options.limits.units[ir::index(ir::RegFile::R)] -= below;
  options.knobs = {{"FatPointLowerLimits", std::to_string(lower_limits)}};
  if (options.limits.of(ir::RegFile::R) <= 0) return -1;
  const auto allocation = find_allocator("fatpoint")->allocate(c.program, target, options);
  if (!allocation) return -1;
  return oracles::measure(oracles::Before(c.program, target), allocation->program).weighted_spill_bytes.value_or(-1);
}

TEST(LowerLimits, MoveFewerBytesAndHoldWhatFewerRegistersAchieve) {
  std::int64_t without = 0, with = 0;
  int fewer = 0, more = 0, upturns_without = 0, upturns_with = 0;
  for (std::uint64_t n = 0; n < kPrograms; ++n) {
    const std::int64_t at_limit = weighted_bytes(n, 0, 0), tried = weighted_bytes(n, 0, 2);
    if (at_limit < 0) continue;
    without += at_limit;
    with += tried;
    fewer += tried < at_limit ? 1 : 0;
    more += tried > at_limit ? 1 : 0;
    const std::int64_t below = weighted_bytes(n, 1, 0);
    upturns_without += below >= 0 && at_limit > below ? 1 : 0;
    upturns_with += below >= 0 && tried > below ? 1 : 0;
  }
  RecordProperty("weighted_bytes_in_thousandths", static_cast<int>(1000 * with / without));
  EXPECT_LT(with, without);
  EXPECT_GE(fewer, 5);
  EXPECT_EQ(more, 0);
  EXPECT_GE(upturns_without, 3);
  EXPECT_EQ(upturns_with, 0);
}

}  // namespace
}  // namespace regduel::fuzz
