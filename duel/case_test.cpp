#include "duel/case.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "fuzz/edit/edit.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

bool keeps_its_promises(const FuzzInput& input) {
  if (!input.target || input.program.phase != ir::Phase::Virtual || !ir::check(input.program, *input.target).empty()) return false;
  for (std::size_t k = 0; k < input.limits.units.size(); ++k)
    if (input.limits.units[k] > input.target->units[k] || (input.limits.units[k] < 1) != (input.target->units[k] == 0))
      return false;
  return true;
}

TEST(FuzzInput, RoundTrip) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    FuzzInput input = derive_input(seed);
    input.knobs = {{"RegAllocNumNonSpillTrials", "3"}, {"", "x"}};
    const std::vector<std::uint8_t> bytes = encode_input(input);
    const FuzzInput again = decode_input(bytes);
    EXPECT_TRUE(keeps_its_promises(again));
    EXPECT_EQ(ir::print(again.program), ir::print(input.program));
    EXPECT_EQ(again.target, input.target);
    EXPECT_EQ(again.limits.units, input.limits.units);
    EXPECT_EQ(again.knobs, input.knobs);
    EXPECT_EQ(encode_input(again), bytes);
  }
}

// A quarter of them, about: half of the draws leave all knobs at their defaults.
TEST(FuzzInput, SomeDerivedOnesHaveKnobs) {
  int with_knobs = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const FuzzInput input = derive_input(seed, 10);
    EXPECT_EQ(decode_input(encode_input(input)).knobs, input.knobs);
    with_knobs += input.knobs.empty() ? 0 : 1;
  }
  EXPECT_GT(with_knobs, 25);
  EXPECT_LT(with_knobs, 80);
}

TEST(FuzzInput, AnyBytesAreAnInput) {
  EXPECT_TRUE(keeps_its_promises(decode_input({})));
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::uint8_t> bytes =
        i % 2 == 0 ? encode_input(derive_input(static_cast<std::uint64_t>(i), 20)) : std::vector<std::uint8_t>(random.below(60));
    for (int k = 0; k < 3 && !bytes.empty(); ++k)
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<std::uint8_t>(random.below(256));
    bytes.resize(bytes.size() - random.below(static_cast<std::uint32_t>(bytes.size() + 1)) / 2);
    EXPECT_TRUE(keeps_its_promises(decode_input(bytes)));
  }
}

TEST(FuzzInput, OtherBytesOtherProgram) {
  const std::uint8_t a[] = {1}, b[] = {2};
  EXPECT_NE(ir::print(decode_input(a).program), ir::print(decode_input(b).program));
}

TEST(EditProgram, ApartAndTogetherIsTheSame) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ir::Function f = derive_input(seed).program;
    const EditProgram edit(f);
    EXPECT_EQ(ir::print(edit.build()), ir::print(f));
    EXPECT_EQ(edit.next_id(), f.next_inst_id());
  }
}

}  // namespace
}  // namespace regduel::fuzz
