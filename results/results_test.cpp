// The database of results, and comparisons of what is in it.
#include "results/results.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include <gmock/gmock.h>

#include "base/bad_input.h"
#include "fuzz/campaign/store.h"
#include "ir/prover.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"
#include "results/comparison.h"
#include "results/testing.h"

namespace regduel::results {
namespace {

class Results : public DatabaseTest {
 protected:
  // A run of `cases` cases of the standard mix.
  void write(std::uint64_t seed, std::uint64_t cases) const {
    ResultFile file(path_, {"test", "write", "none"});
    for (std::uint64_t k = 0; k < cases; ++k)
      file.add(dueled(duel::standard_case(seed, k, duel::all_duelists()), mix_source(seed, k)));
    file.finish();
  }
};

TEST_F(Results, WhatIsWrittenIsRead) {
  const duel::Case input = duel::standard_case(3, 5, duel::all_duelists());
  const duel::Duel d = duel::duel(input, {.duelists = duel::all_duelists()});
  {
    ResultFile file(path_, {"version", "command", "machine"});
    file.add(results_of(input, "case 5", d, Content::Kept));
    file.finish();
  }
  const std::vector<ResultRow> rows = read_results(path_);
  ASSERT_EQ(rows.size(), d.bouts.size());
  for (const ResultRow& row : rows) {
    const auto bout = std::find_if(d.bouts.begin(), d.bouts.end(),
                                   [&](const duel::Bout& b) { return b.allocator == row.configuration.allocator; });
    ASSERT_NE(bout, d.bouts.end());
    EXPECT_EQ(row.name, input.program.name);
    EXPECT_EQ(row.source, "case 5");
    EXPECT_EQ(row.configuration.target, input.target->name);
    EXPECT_EQ(row.verdict, bout->program ? oracles::name(bout->verdict()) : "impossible");
    ASSERT_EQ(row.figures.size(), measures().size());
    for (std::size_t m = 0; m < measures().size(); ++m)
      EXPECT_EQ(row.figures[m], bout->program ? measures()[m].of(*bout) : std::nullopt) << measures()[m].name;
  }
}

// Whether permissions hold for this thread, which they do not for root.
void obey_permissions(bool on) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  ASSERT_EQ(::syscall(SYS_capget, &header, sets.data()), 0);
  constexpr std::uint32_t kOverride = 1u << CAP_DAC_OVERRIDE;
  if (on) sets[0].effective &= ~kOverride;
  else sets[0].effective |= sets[0].permitted & kOverride;
  ASSERT_EQ(::syscall(SYS_capset, &header, sets.data()), 0);
}

TEST_F(Results, WhatIsFinishedIsReadWhereNobodyCanWrite) {
  write(3, 2);
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
  const std::filesystem::path folder = path_ + ".folder", file = folder / "r.sqlite";
  std::filesystem::create_directory(folder);
  std::filesystem::rename(path_, file);
  using std::filesystem::perms;
  std::filesystem::permissions(file, perms::owner_read);
  std::filesystem::permissions(folder, perms::owner_read | perms::owner_exec);
  obey_permissions(true);
  std::size_t rows = 0;
  std::string totals, refusal;
  try {
    rows = read_results(file).size();
    fuzz::Store store(file);
    totals = store.totals();
    static_cast<void>(store.begin_session(1, "mix"));
  } catch (const BadInput& e) {
    refusal = e.what();
  }
  obey_permissions(false);
  std::filesystem::permissions(folder, perms::owner_all);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(rows, 2 * duel::all_duelists().size());
  EXPECT_THAT(totals, testing::StartsWith("1 session over"));
  EXPECT_THAT(refusal, testing::EndsWith("attempt to write a readonly database"));
}

// Of the beginning of a hash; where the program was kept, and where it is made again.
TEST_F(Results, ProgramsAreRead) {
  duel::Case input = duel::standard_case(3, 5, duel::all_duelists());
  const CaseResults mix = dueled(input, mix_source(3, 5));
  input.program.name = "renamed";
  const CaseResults kept = dueled(input, "file.rir", Content::Kept);
  input.program.name = "forgotten";
  const CaseResults forgotten = dueled(input, "file.rir");
  input.program.name = "other";
  const CaseResults other = dueled(input, mix_source(3, 5));
  ResultFile file(path_, {"test", "write", "none"});
  for (const CaseResults& r : {mix, kept, forgotten, other}) file.add(r);
  file.finish();
  EXPECT_EQ(content_hash(ir::encode(read_program(path_, mix.hash.substr(0, 12)))), mix.hash);
  EXPECT_EQ(content_hash(ir::encode(read_program(path_, kept.hash))), kept.hash);
  const auto complaint = [&](const std::string& hash) {
    try {
      (void)read_program(path_, hash);
    } catch (const BadInput& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint(forgotten.hash), testing::EndsWith("the program " + forgotten.hash + " was not kept"));
  EXPECT_THAT(complaint(other.hash), testing::HasSubstr("another version of regduel made the program of \"standard mix"));
  EXPECT_THAT(complaint("none"), testing::EndsWith("no program none"));
}

TEST(Configurations, AreReadAsTheyWereWritten) {
  duel::Case input = duel::standard_case(3, 5, {});
  input.limits.units[ir::index(ir::RegFile::P)] = 3;
  input.knobs = {{"RegAllocSpillBitLowRegScale", "1000"}};
  const std::array<const ir::Allocator*, 1> fatpoint = {duel::find_allocator("fatpoint")};
  const CaseResults r = dueled(input, "file.rir", Content::MadeAgain, fatpoint);
  const auto read = case_of(r.bouts[0].configuration);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->target, input.target);
  EXPECT_EQ(read->limits.units, input.limits.units);
  EXPECT_EQ(read->knobs, input.knobs);
}

TEST(Configurations, ValuesMayHaveBlanks) {
  EXPECT_EQ(settings_in("a=1 b=x y c="), (duel::Knobs{{"a", "1"}, {"b", "x y"}, {"c", ""}}));
  EXPECT_TRUE(settings_in("").empty());
}

TEST(Configurations, WhatIsBeyondTheTargetIsNone) {
  EXPECT_TRUE(case_of({"", "", "sm_90", "R=255"}));
  for (const char* const limits : {"R=256", "R=0", "R=", "R=8x", "Q=8"}) EXPECT_FALSE(case_of({"", "", "sm_90", limits})) << limits;
  EXPECT_FALSE(case_of({"", "", "mine", "R=8"}));
}

TEST_F(Results, RunsStandBesideEachOther) {
  write(1, 3);
  write(1, 4);
  EXPECT_EQ(read_results(path_, 1).size(), 3 * duel::all_duelists().size());
  EXPECT_EQ(read_results(path_, 2).size(), 4 * duel::all_duelists().size());
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

// Proves a number of general registers, and has no allocation.
class Claims : public ir::Prover {
 public:
  explicit Claims(std::int64_t at_least) : at_least_(at_least) {}
  std::string_view name() const override { return "claims"; }
  ir::Bound::Kind kind() const override { return ir::Bound::Kind::Registers; }
  std::expected<ir::Allocation, ir::AllocFailure> prove(const ir::Function&, const ir::Target&, const ir::AllocOptions&,
                                                        std::vector<ir::Bound>& bounds) const override {
    bounds.push_back({.at_least = at_least_});
    return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, "no allocation"});
  }

 private:
  std::int64_t at_least_;
};

// A prover that has become wrong: what beats it fails in the newer run.
TEST_F(Results, AProofThatIsBeatenIsAChangeOfVerdict) {
  const auto parsed = ir::parse(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 %2 = copy %1
    #3 st %1, %2, %0 !write
    #4 exit
)");
  ASSERT_TRUE(parsed.has_value());
  const ir::Target& target = ir::default_target();
  const duel::Case input{&target, ir::Limits::of(target, 8), {}, parsed->functions[0]};
  std::vector<ResultRow> rows[2];
  for (const std::int64_t at_least : {1, 2}) {
    remove();
    const Claims prover(at_least);
    const ir::Allocator* duelists[] = {&prover, duel::find_allocator("fatpoint")};
    {
      ResultFile file(path_, {"test", "duel", "none"});
      file.add(dueled(input, "here", Content::Kept, duelists));
      file.finish();
    }
    rows[at_least - 1] = read_results(path_);
  }
  const Comparison c = compare(rows[0], rows[1]);
  ASSERT_EQ(c.verdicts.size(), 1u);
  EXPECT_EQ(c.verdicts[0].older->verdict, "pass");
  EXPECT_EQ(c.verdicts[0].newer->configuration.allocator, "fatpoint");
  EXPECT_EQ(c.verdicts[0].newer->verdict, "fail");
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
}  // namespace regduel::results
