// The body of the fuzz target cli_args for a moment: words of its dictionary, in any order, some of them damaged.
#include "cli/cli_args.h"

#include <chrono>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "base/random.h"
#include "cli/command.h"
#include "targets/seeds.h"

namespace regduel::cli {
namespace {

std::vector<std::string> words() {
  std::vector<std::string> all;
  std::istringstream lines(read_file(REGDUEL_SOURCE_DIR "/targets/dictionaries/cli_args.dict").value());
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 2 && line.front() == '"') all.push_back(line.substr(1, line.size() - 2));
  return all;
}

TEST(CliArgs, TheDictionaryHasEachCommandAndOption) {
  const std::vector<std::string> known = words();
  for (const Command& c : commands()) {
    EXPECT_THAT(known, testing::Contains(c.name));
    for (const std::string& option : options_of(c)) EXPECT_THAT(known, testing::Contains(option)) << c.name;
  }
}

TEST(CliArgs, EndInGoodOrderWhateverTheyAre) {
  const std::vector<std::string> known = words();
  ASSERT_GE(known.size(), 50u);
  const auto seeds = targets::seeds_of("cli_args", REGDUEL_SOURCE_DIR);
  ASSERT_TRUE(seeds.has_value()) << seeds.error();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  std::optional<std::string> wrong = try_cli_args({});
  for (const targets::Seed& seed : *seeds)
    if (!wrong) wrong = try_cli_args(seed.bytes);
  Random random(11);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
  int inputs = 0;
  while (!wrong && std::chrono::steady_clock::now() < until) {
    std::string input;
    for (int k = random.between(1, 8); k > 0; --k)
      input += known[random.below(static_cast<std::uint32_t>(known.size()))] + (random.chance(15) ? "=" : "\n");
    for (int k = random.between(0, 2); k > 0; --k)
      input[random.below(static_cast<std::uint32_t>(input.size()))] = static_cast<char>(random.next());
    wrong = try_cli_args({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()});
    ++inputs;
  }
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  EXPECT_FALSE(wrong.has_value()) << *wrong;
  EXPECT_GE(inputs, 10);
}

}  // namespace
}  // namespace regduel::cli
