#include "fuzz/campaign/findings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuzz/campaign/channel.h"

namespace regduel::fuzz {
namespace {

using testing::ElementsAre;

// A worker's answer: a case that may belong to buckets of these names.
nlohmann::json answer(const std::vector<std::string>& names) {
  return {{"allocator", "briggs"},
          {"signature", "symbolic/symbolic-wrong-value@op:use"},
          {"fails", true},
          {"understood",
           {{"input", to_message(duel::encode_case(duel::derive_case(5, 20)))},
            {"allocator", "briggs"},
            {"signature", "symbolic/symbolic-wrong-value@op:use"},
            {"decision", ""},
            {"nature", "wrong-value"},
            {"names", names},
            {"rest", nlohmann::json::array()},
            {"title", names.front()},
            {"needed", nlohmann::json::array()}}}};
}

std::vector<std::string> buckets(const CampaignFindings& findings) {
  std::vector<std::string> result;
  for (const Found& f : findings.report()) result.push_back(fmt::format("{} x{}", f.bucket, f.count));
  return result;
}

TEST(CampaignFindingsTest, ACaseGoesToTheBucketThatIsKnownWhateverWorkerIsFirst) {
  Store store("");
  CampaignFindings findings(store, "1", "", {}, "2026-01-01");
  findings.take_understood(1, answer({"with guard", "with part"}), "");
  findings.take_understood(2, answer({"with guard"}), "");
  EXPECT_THAT(buckets(findings), ElementsAre()) << "they wait for the first";
  findings.take_understood(0, answer({"with part"}), "");
  EXPECT_THAT(buckets(findings), ElementsAre("with guard x1", "with part x2"));
  EXPECT_EQ(store.findings().size(), 2u);
}

TEST(CampaignFindingsTest, AnAnswerThatNeverComesHoldsUpNothing) {
  Store store("");
  CampaignFindings findings(store, "1", "", {}, "2026-01-01");
  findings.take_understood(1, answer({"one"}), "");
  findings.take_understood(3, answer({"two"}), "");
  findings.take_understood(0, nullptr, "");
  EXPECT_THAT(buckets(findings), ElementsAre("one x1"));
  findings.take_all_understood();
  EXPECT_THAT(buckets(findings), ElementsAre("one x1", "two x1"));
}

}  // namespace
}  // namespace regduel::fuzz
