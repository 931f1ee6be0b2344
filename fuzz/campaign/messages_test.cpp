#include "fuzz/campaign/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "duel/allocators.h"
#include "duel/duel.h"

namespace regduel::fuzz {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A tally in which every field has something: of one duel, and of the figures that are rare in duels.
Tally some_tally() {
  const duel::Case c = duel::derive_case(3, 30);
  duel::Duel d = duel::duel(c, {.duelists = duel::all_duelists(), .metamorphic = true});
  d.bouts[0].unsupported = "a reason";
  d.bouts[0].report.results = {{"structure", oracles::Verdict::Skipped, "a reason", {}}};
  d.bouts[1].report.results = {{"symbolic", oracles::Verdict::Inconclusive, "fuel: 3 of 40 blocks", {}}};
  d.metamorphic[0].metamorphic.observations.push_back({"renamed", "registers", 3, 5});
  Tally tally(duel::all_duelists());
  tally.add(c, d);
  return tally;
}

results::CaseResults some_results() {
  return {.hash = "h",
          .name = "n",
          .source = "s",
          .instructions = 7,
          .content = {1, 2},
          .bouts = {{{"briggs", "a=1", "sm_80", "R=32"},
                     "fail",
                     "because",
                     {1, std::nullopt, -3},
                     {{"signature", "message"}},
                     "answer",
                     "asked"}}};
}

std::vector<Job> some_jobs() {
  return {TryMix{{3, 64}},
          Explore{{5, 9}, {{{1, 2, 255}, {7, 1u << 23}}, {{}, {}}}},
          TrySeed{{UINT64_MAX, 1}, {0, 0}, true},
          Understand{{"briggs", "symbolic/wrong@op:use"}, {4}, std::string("a \0 byte", 8), 12},
          Locate{{9, 8}, 77, "harness/hang", "longer than 60 seconds"},
          TryAgain{"a bucket", {"exec:a b", "s"}, {}}};
}

std::vector<Report> some_reports() {
  const Failed failed{{1, 2}, 5, {{{"briggs", "s"}, "m"}, {{"cicc", "t"}, ""}}};
  const Reduction reduction{{3}, {"briggs", "s"}, "coalesce-copy", {"nature", {"a", "b"}, {"c"}, "title", {"d"}}, "answer"};
  return {StoredInput{"hash", {1, 2}, {3, 4}, true, 5, false},
          failed,
          Tried{{1, 2}, some_tally(), {some_results(), {}}},
          Understanding{{"briggs", "s"}, reduction},
          Understanding{{"briggs", "s"}, std::nullopt},
          Located{failed, "harness/crash-SIGSEGV"},
          TriedAgain{"a bucket", true}};
}

// A message says all that it said when its bytes, decoded and encoded again, are the same. Which field is which, the tests below say.
TEST(Messages, ARoundTripKeepsEveryMessage) {
  for (const Job& job : some_jobs()) {
    const results::Blob bytes = encode(job);
    const auto decoded = decode_job(bytes);
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(decoded->index(), job.index());
    EXPECT_EQ(encode(*decoded), bytes) << job.index();
  }
  for (const Report& report : some_reports()) {
    const results::Blob bytes = encode(report);
    const auto decoded = decode_report(bytes);
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(decoded->index(), report.index());
    EXPECT_EQ(encode(*decoded), bytes) << report.index();
  }
}

TEST(Messages, FieldsComeBackWhereTheyWere) {
  const auto understand = std::get<Understand>(decode_job(encode(some_jobs()[3])).value());
  EXPECT_EQ(understand.failure.allocator, "briggs");
  EXPECT_EQ(understand.failure.signature, "symbolic/wrong@op:use");
  EXPECT_THAT(understand.input, ElementsAre(4));
  EXPECT_EQ(understand.message, std::string("a \0 byte", 8));
  EXPECT_EQ(understand.number, 12u);

  const auto input = std::get<StoredInput>(decode_report(encode(some_reports()[0])).value());
  EXPECT_EQ(input.hash, "hash");
  EXPECT_THAT(input.features, ElementsAre(3, 4));
  EXPECT_TRUE(input.is_pinned);
  EXPECT_EQ(input.instructions, 5u);
  EXPECT_FALSE(input.is_current);

  const auto reduction = std::get<Understanding>(decode_report(encode(some_reports()[3])).value()).reduction.value();
  EXPECT_EQ(reduction.decision, "coalesce-copy");
  EXPECT_EQ(reduction.naming.nature, "nature");
  EXPECT_THAT(reduction.naming.names, ElementsAre("a", "b"));
  EXPECT_THAT(reduction.naming.rest, ElementsAre("c"));
  EXPECT_EQ(reduction.naming.title, "title");
  EXPECT_THAT(reduction.naming.needed, ElementsAre("d"));
  EXPECT_EQ(reduction.answer, "answer");
}

TEST(Messages, RowsOfTheDatabaseComeBackWhole) {
  const auto tried = std::get<Tried>(decode_report(encode(some_reports()[2])).value());
  ASSERT_EQ(tried.results.size(), 2u);
  const results::CaseResults& r = tried.results[0];
  EXPECT_EQ(r.hash + r.name + r.source, "hns");
  EXPECT_EQ(r.instructions, 7u);
  EXPECT_THAT(r.content, ElementsAre(1, 2));
  ASSERT_EQ(r.bouts.size(), 1u);
  EXPECT_EQ(r.bouts[0].configuration, (results::Configuration{"briggs", "a=1", "sm_80", "R=32"}));
  EXPECT_EQ(r.bouts[0].verdict + r.bouts[0].reason, "failbecause");
  EXPECT_THAT(r.bouts[0].figures, ElementsAre(std::optional<std::int64_t>(1), std::nullopt, std::optional<std::int64_t>(-3)));
  EXPECT_THAT(r.bouts[0].objections, ElementsAre(std::pair("signature", "message")));
  EXPECT_EQ(r.bouts[0].answer + r.bouts[0].answered_to, "answerasked");
}

// The coordinator adds what a worker has counted to an empty tally: the sum is what the worker has.
TEST(Messages, ATallyIsTheSameOnTheOtherSide) {
  const Tally here = some_tally();
  EXPECT_FALSE(here.changes().empty());
  const auto there = std::get<Tried>(decode_report(encode(Tried{{1, 1}, here, {}})).value()).tally;
  Tally sum(duel::all_duelists());
  sum.add(there);
  EXPECT_EQ(sum.json().dump(), here.json().dump());
  EXPECT_EQ(sum.sizes(), here.sizes());
  EXPECT_EQ(sum.cases(), 1u);
  EXPECT_EQ(sum.rows()[0].unsupported_for.at("unsupported: a reason"), 1u);
  EXPECT_EQ(sum.rows()[1].opinions[0].inconclusive.at("fuel: # of # blocks"), 1u);
}

TEST(Messages, BytesThatAreNoMessageGiveAnError) {
  EXPECT_THAT(decode_job({}).error(), HasSubstr("unknown type 255"));
  EXPECT_THAT(decode_job(results::Blob{6}).error(), HasSubstr("unknown type 6"));
  EXPECT_THAT(decode_job(results::Blob{0, 1}).error(), HasSubstr("type 0 ends too early"));
  results::Blob longer = encode(some_jobs()[0]);
  longer.push_back(0);
  EXPECT_THAT(decode_job(longer).error(), HasSubstr("1 bytes too many"));
  results::Blob neither = encode(some_reports()[6]);
  neither.back() = 2;  // neither true nor false
  EXPECT_THAT(decode_report(neither).error(), HasSubstr("bad value"));
}

TEST(Messages, APartOfAMessageIsAnError) {
  for (const Job& job : some_jobs())
    for (results::Blob bytes = encode(job); !bytes.empty();) {
      bytes.pop_back();
      EXPECT_FALSE(decode_job(bytes).has_value());
    }
  for (const Report& report : some_reports()) {
    const results::Blob bytes = encode(report);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_report(std::span(bytes).first(size)).has_value()) << report.index() << ", " << size;
  }
}

// Damaged bytes are an error or another message that is no larger, never a crash.
TEST(Messages, DamagedBytesDoNoHarm) {
  Random random(1);
  int errors = 0;
  const std::vector<Report> reports = some_reports();
  for (int round = 0; round < 200; ++round)
    for (const Report& report : reports) {
      results::Blob bytes = encode(report);
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<std::uint8_t>(random.below(256));
      const auto decoded = decode_report(bytes);
      if (!decoded) ++errors;
      else EXPECT_LE(encode(*decoded).size(), bytes.size());
    }
  EXPECT_GT(errors, 50);
}

}  // namespace
}  // namespace regduel::fuzz
