// The body of each fuzz target for a moment: the same function that a campaign runs.
#include <chrono>

#include <gtest/gtest.h>

#include "base/random.h"
#include "fuzz/edit/mutator.h"
#include "ir/text/text.h"
#include "targets/targets.h"

namespace regduel::properties {
namespace {

class Smoke : public testing::TestWithParam<targets::FuzzTarget> {};

// An input of a text or byte target: a program in its form, with some bytes changed.
std::vector<std::uint8_t> damaged_text(std::string_view target, const duel::Case& input, Random& random) {
  std::vector<std::uint8_t> bytes;
  if (target == "rir_binary") {
    const std::vector<std::uint8_t> input_bytes = duel::encode_case(input);
    // The program stands behind the head of a fuzz input.
    const auto at = input_bytes.begin() + static_cast<std::ptrdiff_t>(random.below(8));
    bytes.assign(at, input_bytes.end());
  } else {
    const std::string text = "rir 1\n" + ir::print(input.program);
    bytes.assign(text.begin(), text.end());
  }
  for (int k = random.between(0, 4); k > 0 && !bytes.empty(); --k)
    bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<std::uint8_t>(random.next());
  return bytes;
}

TEST_P(Smoke, FindsNothing) {
  const targets::FuzzTarget& target = GetParam();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
  Random random(7);
  int inputs = 0;
  do {
    duel::Case input = duel::derive_case(random.next());
    const duel::Case other = duel::derive_case(random.next());
    for (int step = 0; step < 4; ++step) {
      const std::vector<std::uint8_t> bytes =
          target.is_structured ? duel::encode_case(input) : damaged_text(target.name, input, random);
      const auto wrong = target.body(bytes);
      ASSERT_FALSE(wrong.has_value()) << *wrong;
      ++inputs;
      if (step == 2) input = fuzz::cross(input, other, random.next());
      else fuzz::mutate(input, random.next());
    }
    EXPECT_FALSE(target.body({}).has_value());
  } while (std::chrono::steady_clock::now() < until);
  RecordProperty("inputs", inputs);
}

INSTANTIATE_TEST_SUITE_P(Targets, Smoke, testing::ValuesIn(targets::fuzz_targets().begin(), targets::fuzz_targets().end()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace regduel::properties
