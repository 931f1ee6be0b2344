#include "cli/suggestion.h"

#include <gtest/gtest.h>

namespace regduel::cli {
namespace {

TEST(Suggestion, CountsLetters) {
  EXPECT_EQ(edit_distance("regs", "regs"), 0u);
  EXPECT_EQ(edit_distance("rges", "regs"), 1u);
  EXPECT_EQ(edit_distance("", "regs"), 4u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggestion, IsTheNearestWord) {
  const std::vector<std::string> known = {"--regs", "--random", "--json"};
  EXPECT_EQ(most_like("--rges", known), "--regs");
  EXPECT_EQ(most_like("--raandom", known), "--random");
  EXPECT_EQ(most_like("--frobnicate", known), "");
  EXPECT_EQ(most_like("", known), "");
  EXPECT_EQ(did_you_mean("--jsn", known), " (did you mean \"--json\"?)");
}

}  // namespace
}  // namespace regduel::cli
