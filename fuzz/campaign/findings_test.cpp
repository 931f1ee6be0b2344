#include "fuzz/campaign/findings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::fuzz {
namespace {

using testing::ElementsAre;

constexpr const char* kWrongValue = "symbolic/symbolic-wrong-value@op:use";

Understand task(std::uint64_t number) { return {{"briggs", kWrongValue}, {}, "", number}; }

// A worker's answer: a case that may belong to buckets of these names.
Understanding answer(const std::vector<std::string>& names) {
  const Failure failure{"briggs", kWrongValue};
  return {failure, Reduction{.input = duel::encode_case(duel::derive_case(5, 20)),
                             .failure = failure,
                             .decision = "",
                             .naming = {.nature = "wrong-value", .names = names, .rest = {}, .title = names.front()}}};
}

std::vector<std::string> buckets(const CampaignFindings& findings) {
  std::vector<std::string> result;
  for (const Found& f : findings.report()) result.push_back(fmt::format("{} x{}", f.bucket, f.count));
  return result;
}

TEST(CampaignFindingsTest, ACaseGoesToTheBucketThatIsKnownWhateverWorkerIsFirst) {
  Store store("");
  CampaignFindings findings(store, "1", "", {}, "2026-01-01");
  findings.take_understood(task(1), answer({"with guard", "with part"}));
  findings.take_understood(task(2), answer({"with guard"}));
  EXPECT_THAT(buckets(findings), ElementsAre()) << "they wait for the first";
  findings.take_understood(task(0), answer({"with part"}));
  EXPECT_THAT(buckets(findings), ElementsAre("with guard x1", "with part x2"));
  EXPECT_EQ(store.findings().size(), 2u);
}

TEST(CampaignFindingsTest, AnAnswerThatNeverComesHoldsUpNothing) {
  Store store("");
  CampaignFindings findings(store, "1", "", {}, "2026-01-01");
  findings.take_understood(task(1), answer({"one"}));
  findings.take_understood(task(3), answer({"two"}));
  findings.take_understood(task(0), std::nullopt);
  EXPECT_THAT(buckets(findings), ElementsAre("one x1"));
  findings.take_all_understood();
  EXPECT_THAT(buckets(findings), ElementsAre("one x1", "two x1"));
}

}  // namespace
}  // namespace regduel::fuzz
