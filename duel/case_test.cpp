#include "duel/case.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

bool keeps_its_promises(const Case& input) {
  if (!input.target || input.program.phase != ir::Phase::Virtual || !ir::check(input.program, *input.target).empty()) return false;
  for (std::size_t k = 0; k < input.limits.units.size(); ++k)
    if (input.limits.units[k] > input.target->units[k] || (input.limits.units[k] < 1) != (input.target->units[k] == 0))
      return false;
  return true;
}

TEST(Case, RoundTrip) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Case input = derive_case(seed);
    input.knobs = {{"RegAllocNumNonSpillTrials", "3"}, {"", "x"}};
    const std::vector<std::uint8_t> bytes = encode_case(input);
    const Case again = decode_case(bytes);
    EXPECT_TRUE(keeps_its_promises(again));
    EXPECT_EQ(ir::print(again.program), ir::print(input.program));
    EXPECT_EQ(again.target, input.target);
    EXPECT_EQ(again.limits.units, input.limits.units);
    EXPECT_EQ(again.knobs, input.knobs);
    EXPECT_EQ(encode_case(again), bytes);
  }
}

// A quarter of them, about: half of the draws leave all knobs at their defaults.
TEST(Case, SomeDerivedOnesHaveKnobs) {
  int with_knobs = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Case input = derive_case(seed, 10);
    EXPECT_EQ(decode_case(encode_case(input)).knobs, input.knobs);
    with_knobs += input.knobs.empty() ? 0 : 1;
  }
  EXPECT_GT(with_knobs, 25);
  EXPECT_LT(with_knobs, 80);
}

TEST(Case, AnyBytesAreAnInput) {
  EXPECT_TRUE(keeps_its_promises(decode_case({})));
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::uint8_t> bytes =
        i % 2 == 0 ? encode_case(derive_case(static_cast<std::uint64_t>(i), 20)) : std::vector<std::uint8_t>(random.below(60));
    for (int k = 0; k < 3 && !bytes.empty(); ++k)
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<std::uint8_t>(random.below(256));
    bytes.resize(bytes.size() - random.below(static_cast<std::uint32_t>(bytes.size() + 1)) / 2);
    EXPECT_TRUE(keeps_its_promises(decode_case(bytes)));
  }
}

TEST(Case, OtherBytesOtherProgram) {
  const std::uint8_t a[] = {1}, b[] = {2};
  EXPECT_NE(ir::print(decode_case(a).program), ir::print(decode_case(b).program));
}

}  // namespace
}  // namespace regduel::duel
