// The body of each fuzz target for about a second: the same function that a campaign runs.
#include <chrono>

#include <gtest/gtest.h>

#include "fuzz/duel_target.h"
#include "fuzz/mutator.h"
#include "ir/random.h"

namespace regduel::fuzz {
namespace {

TEST(Smoke, Duel) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  std::uint64_t seed = 0;
  do {
    std::uint8_t bytes[8];
    for (std::size_t k = 0; k < 8; ++k) bytes[k] = static_cast<std::uint8_t>(mix64(seed) >> (8 * k));
    FuzzInput input = decode_input(bytes);
    for (std::uint64_t step = 0; step < 4; ++step) {
      const auto report = find_in(input);
      ASSERT_FALSE(report.has_value()) << *report;
      mutate(input, hash_combine(seed, step));
    }
    EXPECT_EQ(duel_target(encode_input(input)), 0);
    ++seed;
  } while (std::chrono::steady_clock::now() < until);
  RecordProperty("inputs", static_cast<int>(seed));
}

}  // namespace
}  // namespace regduel::fuzz
