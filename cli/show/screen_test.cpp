// The screen of a campaign as text.
#include "cli/show/screen.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

fuzz::CampaignStatus status() {
  fuzz::CampaignStatus s;
  s.seconds = 30;
  s.end_seconds = 100;
  s.tried = 3000;
  s.features = 500;
  s.inputs = 40;
  s.jobs = 2;
  s.tried_by = {1400, 1600};
  return s;
}

TEST(Screen, SaysHowFarItIs) {
  EXPECT_THAT(screen_text(status(), 100, 12, 200),
              AllOf(HasSubstr("0:30, 1:10 left   2 workers\n"), HasSubstr("each worker  1400 + 1600\n"),
                    HasSubstr("500 features, 12 of them in the last minute")));
  fuzz::CampaignStatus s = status();
  s.end = 4000;  // of which a thousand are left, at a hundred a second: before the time is up
  EXPECT_THAT(screen_text(s, 100, 0, 200), HasSubstr("0:30, 0:10 left"));
  s.jobs = 1;
  s.tried_by = {3000};
  s.end = 0;
  s.end_seconds = 0;
  EXPECT_THAT(screen_text(s, 100, 0, 200), AllOf(HasSubstr("0:30   1 worker\n"), Not(HasSubstr("left")), Not(HasSubstr("each"))));
  EXPECT_THAT(line_text(status(), 3),
              HasSubstr("0:30, 1:10 left: 3000 programs (100/s), 40 inputs, 500 features (3 new), 0 findings"));
}

TEST(Screen, SaysHowOldTheLastNewsIs) {
  fuzz::CampaignStatus s = status();
  EXPECT_THAT(line_text(s, 0), HasSubstr("0 findings, no new feature, no new finding"));
  s.last_feature = 18;
  s.last_finding = 5;
  s.known = 3;
  EXPECT_THAT(line_text(s, 0), HasSubstr("0 findings, 3 of earlier sessions, last feature 0:12 ago, last finding 0:25 ago\n"));
  EXPECT_THAT(screen_text(s, 1, 0, 200), HasSubstr("last news    last feature 0:12 ago, last finding 0:25 ago\n"));
}

// An echoed ^C stands behind the screen.
TEST(Screen, IsClearedFromTheFirstColumn) {
  EXPECT_EQ(clearing(3), "\r\033[3A\033[J");
  EXPECT_EQ(clearing(0), "");
}

TEST(Screen, LinesFit) {
  for (const std::size_t width : {30, 60}) {
    std::istringstream text(screen_text(status(), 100, 12, static_cast<int>(width)));
    for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), width);
  }
}

TEST(Growth, IsThatOfTheLastMinute) {
  Growth g;
  EXPECT_EQ(g.in_last_minute(), 0u);
  for (int s = 0; s <= 200; ++s) g.add(s, static_cast<std::uint64_t>(10 * s));
  EXPECT_EQ(g.in_last_minute(), 600u);
  for (int s = 201; s <= 230; ++s) g.add(s, 2000);
  EXPECT_EQ(g.in_last_minute(), 300u);
}

}  // namespace
}  // namespace regduel::cli
