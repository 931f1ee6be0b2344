// The database of results, and comparisons of what is in it.
#include "fuzz/lab/results.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "base/bad_input.h"
#include "fuzz/duel/allocators.h"
#include "fuzz/lab/comparison.h"

namespace regduel::fuzz {
namespace {

class Results : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }
  // A run of `cases` cases of the standard mix.
  void write(std::uint64_t seed, std::uint64_t cases, std::span<const ir::Allocator* const> duelists = all_duelists()) const {
    ResultFile file(path_, {"test", "write", "none"});
    for (std::uint64_t k = 0; k < cases; ++k) {
      const FuzzInput input = standard_input(seed, k, duelists);
      const Duel d = duel(input.program, *input.target, input.limits, duelists, input.knobs);
      file.add(results_of(input, mix_source(seed, k), d, Content::MadeAgain));
    }
    file.finish();
  }
  const std::string path_ =
      testing::TempDir() + "results_test_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".sqlite";
};

TEST_F(Results, WhatIsWrittenIsRead) {
  const FuzzInput input = standard_input(3, 5, all_duelists());
  const Duel d = duel(input.program, *input.target, input.limits, all_duelists(), input.knobs);
  {
    ResultFile file(path_, {"version", "command", "machine"});
    file.add(results_of(input, "case 5", d, Content::Kept));
    file.finish();
  }
  const std::vector<ResultRow> rows = read_results(path_);
  ASSERT_EQ(rows.size(), d.bouts.size());
  for (const ResultRow& row : rows) {
    const auto bout =
        std::find_if(d.bouts.begin(), d.bouts.end(), [&](const Bout& b) { return b.allocator == row.configuration.allocator; });
    ASSERT_NE(bout, d.bouts.end());
    EXPECT_EQ(row.name, input.program.name);
    EXPECT_EQ(row.source, "case 5");
    EXPECT_EQ(row.configuration.target, input.target->name);
    EXPECT_EQ(row.verdict, bout->program ? oracles::name(bout->verdict) : "impossible");
    ASSERT_EQ(row.figures.size(), measures().size());
    for (std::size_t m = 0; m < measures().size(); ++m)
      EXPECT_EQ(row.figures[m], bout->program ? measures()[m].of(*bout) : std::nullopt) << measures()[m].name;
  }
}

TEST_F(Results, RunsStandBesideEachOther) {
  write(1, 3);
  write(1, 4);
  EXPECT_EQ(read_results(path_, 1).size(), 3 * all_duelists().size());
  EXPECT_EQ(read_results(path_, 2).size(), 4 * all_duelists().size());
  EXPECT_EQ(read_results(path_).size(), read_results(path_, 2).size());
  EXPECT_THROW((void)read_results(path_, 3), BadInput);
  EXPECT_THROW((void)read_results(path_ + ".none"), BadInput);
}

// As often as one likes: what both have stays once.
TEST_F(Results, FilesMerge) {
  write(1, 3);
  write(2, 4);
  const std::string merged = path_ + ".merged";
  std::filesystem::remove(merged);
  {
    Sqlite db(merged);
    open_database(db);
    db.execute("ATTACH DATABASE ? AS other", path_);
    merge_runs(db);
    merge_runs(db);
  }
  for (const std::int64_t run : {1, 2}) {
    const auto older = read_results(path_, run), newer = read_results(merged, run);
    ASSERT_EQ(older.size(), newer.size());
    for (std::size_t k = 0; k < older.size(); ++k) {
      EXPECT_EQ(older[k].hash, newer[k].hash);
      EXPECT_EQ(older[k].configuration, newer[k].configuration);
      EXPECT_EQ(older[k].figures, newer[k].figures);
    }
  }
  EXPECT_THROW((void)read_results(merged, 3), BadInput);
  std::filesystem::remove(merged);
}

TEST_F(Results, TheSameRunIsTheSame) {
  write(1, 20);
  write(1, 20);
  const auto older = read_results(path_, 1), newer = read_results(path_, 2);
  const Comparison c = compare(older, newer);
  EXPECT_EQ(c.pairs, older.size());
  EXPECT_TRUE(c.verdicts.empty());
  EXPECT_EQ(c.only_older + c.only_newer, 0u);
  EXPECT_TRUE(c.worst.empty() && c.best.empty());
  for (const MeasureComparison& m : c.measures) {
    EXPECT_EQ(m.statistics.ratio, 1) << m.measure->name;
    EXPECT_EQ(m.adjusted_p, 1) << m.measure->name;
  }
}

// Two allocators of one run are paired by program and limit.
TEST_F(Results, AllocatorsAreCompared) {
  write(1, 40);
  const auto rows = read_results(path_);
  const Comparison c = compare(rows, rows, {.older_allocator = "briggs", .newer_allocator = "fatpoint"});
  EXPECT_EQ(c.pairs, 40u);
  EXPECT_EQ(c.only_older + c.only_newer, 0u);
  const Comparison back = compare(rows, rows, {.older_allocator = "fatpoint", .newer_allocator = "briggs"});
  for (std::size_t m = 0; m < c.measures.size(); ++m) {
    EXPECT_NEAR(c.measures[m].statistics.ratio * back.measures[m].statistics.ratio, 1, 1e-9);
    EXPECT_EQ(c.measures[m].statistics.more, back.measures[m].statistics.fewer);
    EXPECT_NEAR(c.measures[m].statistics.p, back.measures[m].statistics.p, 1e-9);
  }
}

ResultRow row(const std::string& hash, const std::string& name, std::int64_t bytes, const std::string& verdict = "pass") {
  ResultRow r{hash, name, "here", {"a", "", "sm_90", "R=8"}, verdict, "", {}};
  for (const Measure& m : measures())
    r.figures.push_back(m.name == "weighted_spill_bytes" ? std::optional(bytes) : std::optional<std::int64_t>(7));
  return r;
}

TEST(Comparisons, ChangesOfVerdictsAndInputsAreToldApart) {
  const std::vector<ResultRow> older = {row("1", "f", 8), row("2", "g", 8), row("3", "h", 8), row("4", "i", 100)},
                               newer = {row("1", "f", 8, "fail"), row("2", "g", 16), row("5", "h", 8), row("4", "i", 20)};
  const Comparison c = compare(older, newer);
  EXPECT_EQ(c.pairs, 3u);
  EXPECT_EQ(c.passed, 2u);
  ASSERT_EQ(c.verdicts.size(), 1u);
  EXPECT_EQ(c.verdicts[0].newer->verdict, "fail");
  EXPECT_EQ(c.only_older, 1u);
  EXPECT_EQ(c.only_newer, 1u);
  EXPECT_EQ(c.changed_inputs, 1u);
  ASSERT_EQ(c.worst.size(), 1u);
  EXPECT_EQ(c.worst[0].newer->name, "g");
  ASSERT_EQ(c.best.size(), 1u);
  EXPECT_EQ(c.best[0].older_figure, 100);
  EXPECT_EQ(c.best[0].newer_figure, 20);
}

}  // namespace
}  // namespace regduel::fuzz
