// Knob FatPointLowerLimits gives its purpose: fewer weighted spill bytes, and at no limit more of them than at those tried below
// it. By default one is tried where nothing is over budget, and yet something is spilled.
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "generate/standard_mix.h"
#include "oracles/before.h"
#include "oracles/quality/quality.h"

namespace regduel::properties {
namespace {

constexpr std::uint64_t kPrograms = 100;

// Weighted spill bytes; -1 where there is no allocation.
std::int64_t weighted_bytes(const ir::Function& program, const ir::Target& target, const ir::Limits& limits, int lower_limits) {
  ir::AllocOptions options;
  options.limits = limits;
  options.knobs = {{"FatPointLowerLimits", std::to_string(lower_limits)}};
  if (limits.of(ir::RegFile::R) <= 0) return -1;
  const auto allocation = duel::find_allocator("fatpoint")->allocate(program, target, options);
  if (!allocation) return -1;
  return oracles::measure(oracles::Before(program, target), allocation->program).weighted_spill_bytes.value_or(-1);
}

// Of case `n` of the mix at so many registers below its own limit.
std::int64_t weighted_bytes(std::uint64_t n, int below, int lower_limits) {
  generate::StandardCase c = generate::standard_mix(5, n);
  c.limits.units[ir::index(ir::RegFile::R)] -= below;
  return weighted_bytes(c.program, *ir::find_target(c.target), c.limits, lower_limits);
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
}  // namespace regduel::properties
