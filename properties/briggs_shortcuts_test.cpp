// With fuel briggs takes no shortcut: every attempt to colour is made, and every file coloured anew in each round. So fuel that
// never runs out changes nothing.

#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "generate/standard_mix.h"
#include "ir/text/text.h"

namespace regduel::properties {
namespace {

TEST(BriggsShortcuts, ChangeNoResult) {
  int spilling = 0;
  for (std::uint64_t n = 0; n < 600; ++n) {
    const generate::StandardCase mix = generate::standard_mix(33, n);
    const ir::Target& target = *ir::find_target(mix.target);
    ir::AllocOptions options;
    options.limits = mix.limits;
    const auto fast = duel::find_allocator("briggs")->allocate(mix.program, target, options);
    ir::Fuel fuel;
    options.fuel = &fuel;
    const auto slow = duel::find_allocator("briggs")->allocate(mix.program, target, options);
    ASSERT_EQ(fast.has_value(), slow.has_value()) << "case " << n;
    if (!fast) continue;
    ASSERT_EQ(ir::print(fast->program), ir::print(slow->program)) << "case " << n;
    spilling += fast->claims.spill_store_bytes > 0;
  }
  EXPECT_GT(spilling, 200);
}

}  // namespace
}  // namespace regduel::properties
