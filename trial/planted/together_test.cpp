#include "trial/planted/together.h"

#include <set>

#include <gtest/gtest.h>

#include "trial/planted/catalogue.h"

namespace regduel::trial {
namespace {

TEST(Sorting, CountsMajoritiesAndLargestBuckets) {
  const std::vector<Labelled> cases = {
      {"p", {"a"}},      {"p", {"a"}}, {"p", {"b"}},  // two of three belong to a
      {"q", {"b"}},      {"q", {"b"}}, {"r", {"a"}},  // b is at home in q, a in p
      {"q", {"a", "b"}},                              // fits b's bucket, which is as good
      {"s", {"c+d"}},    {"s", {"d"}},                // takes two bugs: either will do
  };
  const Sorting s = measure_sorting(cases);
  EXPECT_EQ(s.cases, 9u);
  EXPECT_EQ(s.buckets, 4u);
  EXPECT_EQ(s.bugs, 4u);
  EXPECT_EQ(s.in_majority, 8u);  // all but the b in p
  EXPECT_EQ(s.in_largest, 7u);   // all but the b in p and the a in r
  EXPECT_EQ(s.several, 1u);
  EXPECT_EQ(s.joint, 1u);
  EXPECT_EQ(measure_sorting({}).cases, 0u);
}

TEST(HuntTogether, FindsSeveralBugsAndSaysWhichMadeACase) {
  if (!has_planted_bugs()) GTEST_SKIP() << "needs the zoo build";
  TogetherOptions options;
  options.bugs = {"fatpoint-clobber-missed", "fatpoint-early-clobber-ignored", "briggs-two-defs-share"};
  options.seconds = 5;
  std::set<std::string> causes;
  const std::uint64_t inputs = hunt_together(options, [&](const SortedCase& c) {
    ASSERT_FALSE(c.causes.empty());
    EXPECT_FALSE(c.understood.bucket.empty());
    causes.insert(c.causes.begin(), c.causes.end());
  });
  EXPECT_GT(inputs, 0u);
  for (const std::string& bug : options.bugs) {
    EXPECT_TRUE(causes.contains(bug)) << bug;
    EXPECT_FALSE(is_planted(bug));
  }
}

}  // namespace
}  // namespace regduel::trial
