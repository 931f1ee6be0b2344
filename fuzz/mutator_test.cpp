#include "fuzz/mutator.h"

#include <gtest/gtest.h>

#include "ir/check.h"
#include "ir/text.h"

namespace regduel::fuzz {
namespace {

std::vector<Mutation> mutations() {
  std::vector<Mutation> all;
  for (int m = 0; m < kNumMutations; ++m) all.push_back(static_cast<Mutation>(m));
  return all;
}

class MutationTest : public testing::TestWithParam<Mutation> {};

TEST_P(MutationTest, StaysWellFormedAndOftenWorks) {
  int applied = 0;
  constexpr int kSeeds = 400;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    FuzzInput input = derive_input(seed % 40);
    const std::vector<std::uint8_t> before = encode_input(input);
    const bool changed = apply(GetParam(), input, seed);
    ASSERT_TRUE(ir::check(input.program, *input.target).empty()) << seed;
    EXPECT_EQ(changed, encode_input(input) != before) << seed;
    for (std::size_t k = 0; k < input.limits.units.size(); ++k) ASSERT_LE(input.limits.units[k], input.target->units[k]);
    applied += changed ? 1 : 0;
  }
  EXPECT_GE(applied, kSeeds / 20);
}

INSTANTIATE_TEST_SUITE_P(All, MutationTest, testing::ValuesIn(mutations()),
                         [](const auto& param) { return std::string(name(param.param)); });

TEST(Mutate, ChainsStayWellFormedAndRepeat) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FuzzInput a = derive_input(seed), b = derive_input(seed);
    for (std::uint64_t step = 0; step < 40; ++step) {
      mutate(a, seed * 1000 + step);
      mutate(b, seed * 1000 + step);
      ASSERT_TRUE(ir::check(a.program, *a.target).empty());
    }
    EXPECT_EQ(encode_input(a), encode_input(b));
  }
}

}  // namespace
}  // namespace regduel::fuzz
