// Campaigns with allocators that are broken on purpose: what fails is found, reduced and named; what crashes or hangs is a finding;
// what is stopped goes on; what is killed has lost nothing.
#include "fuzz/campaign/campaign.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/bad_input.h"
#include "base/io.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "fuzz/campaign/event_log.h"
#include "fuzz/campaign/reproducer.h"
#include "fuzz/campaign/store.h"
#include "fuzz/campaign/testing.h"

namespace regduel::fuzz {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

// Is right but for one thing, where the program has a tied operand.
class Broken : public ir::Allocator {
 public:
  enum class How { Not, ReadsTheWrongRegister, AbortsWhenSmall, Aborts, Hangs, Sleeps, AbortsWhenAskedForKnobs };
  explicit Broken(How how) : how_(how) {}
  std::string_view name() const override { return "broken"; }
  std::span<const ir::KnobInfo> knobs() const override {
    static int asked = 0;
    if (how_ == How::AbortsWhenAskedForKnobs && ++asked % 4 == 0) ::raise(SIGABRT);
    return {};
  }
  std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                           const ir::AllocOptions& options) const override {
    auto result = duel::find_allocator("briggs")->allocate(program, target, options);
    if (std::none_of(program.operands.begin(), program.operands.end(), [](const ir::Operand& op) { return op.is_tied(); }))
      return result;
    if (how_ == How::Aborts) ::raise(SIGABRT);
    for (std::atomic<int> k = 0; how_ == How::Hangs;) ++k;
    if (how_ == How::Sleeps) ::usleep(900'000);
    if (how_ == How::AbortsWhenSmall && program.insts.size() < kSmall) ::raise(SIGABRT);
    if ((how_ == How::ReadsTheWrongRegister || how_ == How::AbortsWhenSmall) && result) read_the_wrong_register(result->program);
    return result;
  }
  // Prints the program as it allocates it, and so comes upon the same.
  std::vector<ir::OwnFile> own_files(const ir::Function&, const ir::Target&, const ir::AllocOptions&, const std::string&,
                                     const std::string&) const override {
    if (how_ == How::Aborts) ::raise(SIGABRT);
    return {};
  }

  static constexpr std::size_t kSmall = 25;

 private:
  // The first instruction that reads two registers reads the first one twice.
  static void read_the_wrong_register(ir::Function& f) {
    for (const ir::Inst& i : f.insts) {
      if (i.is_inserted()) continue;
      ir::Operand* first = nullptr;
      for (std::size_t k = i.first_operand; k < std::size_t{i.first_operand} + i.num_operands; ++k) {
        ir::Operand& op = f.operands[k];
        if (!op.is_preg() || op.role != ir::Role::Use || op.preg().file != ir::RegFile::R || op.preg().count != 1) continue;
        if (first != nullptr && first->preg() != op.preg()) {
          op.set_preg(first->preg());
          return;
        }
        first = &op;
      }
    }
  }

  How how_;
};

// A broken allocator that is asked alone.
struct Alone {
  explicit Alone(Broken::How how) : allocator(how), entered(allocator), duelists{&allocator} {}

  const Broken allocator;
  const duel::Entered entered;
  const std::array<const ir::Allocator*, 1> duelists;
};

TEST_F(CampaignTest, FindsAndReducesWhatBeatsAProof) {
  const ProvesTooMuch prover;
  const duel::Entered entered(prover);
  const std::array<const ir::Allocator*, 2> duelists = {&prover, duel::find_allocator("briggs")};
  const CampaignResult r = run(options(duelists, 40));
  ASSERT_EQ(r.found.size(), 1u);
  EXPECT_EQ(r.found[0].failure.allocator, "briggs");
  EXPECT_EQ(r.found[0].failure.signature, "proof/beats-registers@function");
  EXPECT_LE(r.found[0].instructions, 2u);
  EXPECT_THAT(players_of(r.found[0].failure), ::testing::Contains("proves-too-much"));
  EXPECT_TRUE(reproduces(played(r.found[0].path), r.found[0].failure));
}

TEST_F(CampaignTest, FindsReducesAndNames) {
  const Alone broken(Broken::How::ReadsTheWrongRegister);
  CampaignOptions o = options(broken.duelists, 60);
  o.reduce_budget = 2'000'000;
  const CampaignResult r = run(o);
  EXPECT_EQ(r.tried, 60u);
  ASSERT_GE(r.found.size(), 1u);
  EXPECT_LE(r.found.size(), 8u);  // one bug, seen in few ways
  std::set<std::string> paths;
  for (const Found& f : r.found) {
    EXPECT_FALSE(f.bucket.empty());
    EXPECT_EQ(f.state, "crashing");
    EXPECT_EQ(f.failure.allocator, "broken");
    EXPECT_LE(f.instructions, 12u) << f.bucket;
    EXPECT_TRUE(reproduces(played(f.path), f.failure)) << f.path;
    paths.insert(f.path);
  }
  // What was not reduced yet has been taken away again.
  EXPECT_THAT(reproducers(), testing::UnorderedElementsAreArray(paths));
}

TEST_F(CampaignTest, ACrashIsAFindingAndTheCampaignGoesOn) {
  const Alone broken(Broken::How::Aborts);
  CampaignOptions o = options(broken.duelists, 120);
  o.reduce_budget = 2'000;  // each try is a process
  for (const bool is_mix : {false, true}) {
    o.is_mix = is_mix;
    o.db = path(is_mix ? "mix.sqlite" : "explore.sqlite");
    const CampaignResult r = run(o);
    EXPECT_EQ(r.tried, 120u);
    ASSERT_GE(r.found.size(), 1u);
    for (const Found& f : r.found) {
      EXPECT_EQ(f.failure.signature, "harness/crash-SIGABRT@allocation");
      EXPECT_EQ(f.failure.allocator, "broken");
      EXPECT_FALSE(f.bucket.empty());
    }
  }
}

// The cases that a reduction tries may crash; a smaller one that does not shows the finding.
TEST_F(CampaignTest, AReductionThatCrashesIsGoneOnWith) {
  const Alone broken(Broken::How::AbortsWhenSmall);
  CampaignOptions o = options(broken.duelists, 40);
  o.is_mix = true;
  o.reduce_budget = 8'000;  // each try is a process
  const CampaignResult r = run(o);
  bool is_reduced = false;
  for (const Found& f : r.found) {
    EXPECT_FALSE(f.bucket.empty()) << f.failure.signature;
    if (f.failure.signature.starts_with("harness/crash-")) continue;
    EXPECT_GE(f.instructions, Broken::kSmall);
    is_reduced = is_reduced || f.instructions < 2 * Broken::kSmall;
  }
  EXPECT_TRUE(is_reduced);
}

std::vector<std::uint8_t> input_with_a_tied_operand() {
  for (std::uint64_t seed = 1;; ++seed) {
    const duel::Case input = duel::derive_case(seed, 40);
    if (std::any_of(input.program.operands.begin(), input.program.operands.end(),
                    [](const ir::Operand& op) { return op.is_tied(); }))
      return duel::encode_case(input);
  }
}

// Time is that of the processor: waiting for it is no hang.
TEST_F(CampaignTest, WhatSleepsForAWhileDoesNotHang) {
  const Alone broken(Broken::How::Sleeps);
  CampaignOptions o = options(broken.duelists, 1);
  o.timeout = 0.3;
  o.seeds.push_back(input_with_a_tied_operand());
  EXPECT_THAT(run(o).found, testing::IsEmpty());
}

// The campaign ends at its time and the grace after it, though a worker hangs.
TEST_F(CampaignTest, EndsWhenItsTimeIsUp) {
  const Alone broken(Broken::How::Hangs);
  CampaignOptions o = options(broken.duelists, 0);
  o.seconds = 0.5;
  o.grace = 0.5;
  o.seeds.push_back(input_with_a_tied_operand());
  const CampaignResult r = run(o);
  EXPECT_FALSE(r.is_interrupted);
  EXPECT_LT(r.seconds, 10);
}

TEST_F(CampaignTest, StopsAfterSoManyFindings) {
  const Alone broken(Broken::How::ReadsTheWrongRegister);
  CampaignOptions o = options(broken.duelists, 1'000'000);
  o.stop_after = 1;
  const CampaignResult r = run(o);
  EXPECT_LT(r.tried, 20'000u);
  ASSERT_GE(r.found.size(), 1u);
  for (const Found& f : r.found) EXPECT_FALSE(f.bucket.empty());
}

TEST_F(CampaignTest, AHangIsAFinding) {
  const Alone broken(Broken::How::Hangs);
  CampaignOptions o = options(broken.duelists, 1);
  o.timeout = 0.5;
  o.seeds.push_back(input_with_a_tied_operand());
  o.reduce_budget = 40;  // one try or so: each that hangs takes its time
  const CampaignResult r = run(o);
  ASSERT_EQ(r.found.size(), 1u);
  EXPECT_EQ(r.found[0].failure.signature, "harness/hang@allocation");
}

// What no input has done is no finding, but is not passed over either.
TEST_F(CampaignTest, WorkersThatEndWhileTheyTryNothingAreCounted) {
  const Alone broken(Broken::How::AbortsWhenAskedForKnobs);
  const CampaignResult r = run_campaign(options(broken.duelists, 100), [](const CampaignStatus&) { return true; });
  EXPECT_EQ(r.tried, 100u);
  EXPECT_GT(r.lost_workers.at("SIGABRT"), 0);
}

TEST_F(CampaignTest, SuppressedFindingsArePassed) {
  const Alone broken(Broken::How::ReadsTheWrongRegister);
  CampaignOptions o = options(broken.duelists, 100);
  o.suppressions = {{"broken", "*", "2026-06-01", 1}};
  const CampaignResult r = run(o);
  EXPECT_TRUE(r.found.empty());
  EXPECT_GT(r.suppressed, 0u);
  EXPECT_TRUE(reproducers().empty());
  o.today = "2026-06-02";
  EXPECT_FALSE(run(o).found.empty());
}

TEST_F(CampaignTest, WhatIsMendedIncubates) {
  const Broken broken(Broken::How::ReadsTheWrongRegister), mended(Broken::How::Not);
  std::size_t buckets = 0;
  {
    const duel::Entered entered(broken);
    const std::array<const ir::Allocator*, 1> duelists = {&broken};
    buckets = run(options(duelists, 100)).found.size();
    ASSERT_GE(buckets, 1u);
    const CampaignResult again = run(options(duelists, 1));
    EXPECT_TRUE(again.found.empty()) << "nothing is new";
    EXPECT_EQ(again.earlier.sessions, 1u);
    EXPECT_EQ(again.earlier.programs, 100u);
    EXPECT_EQ(again.earlier.findings, buckets);
    EXPECT_GE(again.known.size(), buckets) << "they still fail";
    for (const Found& f : again.known) EXPECT_FALSE(f.message.empty()) << f.bucket;
    buckets = again.known.size();
  }
  const duel::Entered entered(mended);
  const std::array<const ir::Allocator*, 1> duelists = {&mended};
  EXPECT_TRUE(run(options(duelists, 1)).found.empty());
  Store store(path("c.sqlite"));
  ASSERT_EQ(store.findings().size(), buckets);
  for (const StoredFinding& f : store.findings()) EXPECT_EQ(f.state, "incubating");
}

// What an earlier session has found in an allocator that does not take part is left as it is, and said.
TEST_F(CampaignTest, OtherAllocatorsAreLeftAlone) {
  std::size_t sightings = 0;
  {
    const Alone broken(Broken::How::ReadsTheWrongRegister);
    CampaignOptions o = options(broken.duelists, 60);
    o.reduce_budget = 1;
    EXPECT_FALSE(run(o).found.empty());
    sightings = Store(path("c.sqlite")).sightings().size();
    ASSERT_GT(sightings, 0u);
  }
  const std::array<const ir::Allocator*, 1> others = {duel::find_allocator("briggs")};
  const CampaignResult r = run(options(others, 20));
  EXPECT_TRUE(r.found.empty());
  EXPECT_TRUE(r.known.empty());
  EXPECT_EQ(r.earlier.findings + r.earlier.not_understood, 0u);
  EXPECT_GT(r.earlier.left_alone, 0u);
  EXPECT_THAT(r.earlier.absent, testing::ElementsAre("broken"));
  EXPECT_THAT(text_of(r.earlier), HasSubstr("resumed: session 2, 60 programs, 0 findings, 0 cases not understood yet; "));
  EXPECT_EQ(Store(path("c.sqlite")).sightings().size(), sightings);
  EXPECT_THAT(reproducers(), testing::Not(testing::IsEmpty())) << "the files of the first session stay";
}

// Cases that nobody has understood take a share of the time, and programs are tried beside them.
TEST_F(CampaignTest, OldCasesLeaveTimeForPrograms) {
  const Alone broken(Broken::How::ReadsTheWrongRegister);
  CampaignOptions o = options(broken.duelists, 400);
  o.seconds = 0.8;
  o.grace = 0;
  static_cast<void>(run(o));
  CampaignOptions again = options(broken.duelists, 1'000'000);
  again.seconds = 1.5;
  again.grace = 0.2;
  const CampaignResult r = run(again);
  EXPECT_GT(r.tried, 10u) << text_of(r.earlier);
}

TEST_F(CampaignTest, TwoAtATimeInOneDatabaseAreRefused) {
  const std::array<const ir::Allocator*, 1> duelists = {duel::find_allocator("briggs")};
  const pid_t child = ::fork();
  if (child == 0) {
    CampaignOptions o = options(duelists, 0);
    o.seconds = 600;
    static_cast<void>(run(o));
    ::_exit(0);
  }
  while (!fs::exists(path("c.sqlite-lock"))) ::usleep(20'000);
  ::usleep(200'000);
  std::string complaint;
  try {
    static_cast<void>(run(options(duelists, 1)));
  } catch (const BadInput& e) {
    complaint = e.what();
  }
  EXPECT_THAT(complaint, HasSubstr(fmt::format("a campaign of seed 1 runs in it already (process {})", child)));
  CampaignOptions other = options(duelists, 1);
  other.seed = 77;
  EXPECT_EQ(run(other).tried, 1u) << "another campaign may";
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(run(options(duelists, 1)).tried, 1u) << "the lock of a killed process is gone";
  EXPECT_FALSE(fs::exists(path("c.sqlite-lock")));
}

TEST_F(CampaignTest, TheMixIsTheSameForAnyNumberOfWorkers) {
  const std::span<const ir::Allocator* const> duelists = duel::all_duelists();
  const auto summary = [&](int jobs, const std::string& db) {
    CampaignOptions o = options(duelists, 40);
    o.is_mix = true;
    o.jobs = jobs;
    o.db = path(db);
    o.metamorphic = 5;
    auto json = run(o).tally.json();
    for (auto& row : json["allocators"]) row.erase("seconds");
    return json.dump();
  };
  EXPECT_EQ(summary(1, "1"), summary(3, "3"));
}

TEST_F(CampaignTest, EachProgramIsTriedAtEachLimit) {
  const std::span<const ir::Allocator* const> duelists = duel::all_duelists();
  CampaignOptions o = options(duelists, 60);
  o.registers = {16, 40};
  for (const bool is_mix : {true, false}) {
    o.is_mix = is_mix;
    const CampaignResult r = run(o);
    EXPECT_TRUE(r.found.empty());
    EXPECT_EQ(r.tried, 60u) << "programs";
    EXPECT_EQ(r.tally.cases(), 120u) << "duels";
  }
  Store store(path("c.sqlite"));
  std::set<int> limits;
  for (const StoredInput& input : store.inputs()) limits.insert(duel::decode_case(input.input).limits.of(ir::RegFile::R));
  EXPECT_EQ(limits, (std::set<int>{16, 40}));
}

TEST_F(CampaignTest, AnExplorationIsRepeatedByItsSeed) {
  const std::span<const ir::Allocator* const> duelists = duel::all_duelists();
  const auto corpus = [&](const std::string& db, std::uint64_t seed) {
    CampaignOptions o = options(duelists, 150);
    o.db = path(db);
    o.seed = seed;
    EXPECT_TRUE(run(o).found.empty());
    Store store(o.db);
    std::set<std::string> hashes;
    for (const StoredInput& input : store.inputs()) hashes.insert(input.hash);
    return hashes;
  };
  const auto first = corpus("a", 1);
  EXPECT_GT(first.size(), 20u);
  EXPECT_EQ(first, corpus("b", 1));
  EXPECT_NE(first, corpus("c", 2));
}

TEST_F(CampaignTest, ResultsAreRowsOfTheDatabase) {
  const std::span<const ir::Allocator* const> duelists = duel::all_duelists();
  CampaignOptions o = options(duelists, 40);
  o.is_mix = true;
  o.jobs = 2;
  const CampaignResult mix = run(o);
  const std::vector<results::ResultRow> rows = results::read_results(o.db);
  EXPECT_EQ(rows.size(), 40 * duelists.size()) << "each program of the mix";
  std::set<std::string> sources;
  std::uint64_t passed = 0;
  for (const results::ResultRow& r : rows) {
    sources.insert(r.source);
    passed += r.verdict == "pass" ? 1 : 0;
  }
  EXPECT_EQ(sources.size(), 40u);
  EXPECT_TRUE(sources.contains("standard mix, seed 1, case 17"));
  std::uint64_t told = 0;
  for (const Tally::Row& r : mix.tally.rows()) told += r.pass;
  EXPECT_EQ(passed, told);

  o.is_mix = false;
  EXPECT_TRUE(run(o).found.empty());
  const std::vector<results::ResultRow> explored = results::read_results(o.db);
  EXPECT_GE(explored.size(), Store(o.db).inputs().size() * duelists.size()) << "each that was kept";
  results::Sqlite db(o.db);
  results::Sqlite::Statement kept(db, "SELECT count(*) FROM program WHERE content IS NOT NULL");
  ASSERT_TRUE(kept.step());
  EXPECT_GE(kept.integer(0), 1);
}

TEST_F(CampaignTest, PinnedSeedsStay) {
  const std::span<const ir::Allocator* const> duelists = duel::all_duelists();
  CampaignOptions o = options(duelists, 60);
  for (std::uint64_t seed = 1; seed <= 2; ++seed)  // the same thing twice, under two names: one would do
    for (const char* knob : {"", "x"}) {
      duel::Case input = duel::derive_case(seed, 30);
      if (*knob != 0) input.program.name += knob;
      o.seeds.push_back(duel::encode_case(input));
    }
  EXPECT_TRUE(run(o).found.empty());
  Store store(o.db);
  std::set<std::string> kept, given;
  for (const StoredInput& input : store.inputs())
    if (input.is_pinned) kept.insert(input.hash);
  for (const results::Blob& seed : o.seeds) given.insert(results::content_hash(seed));
  EXPECT_EQ(given.size(), 4u);
  EXPECT_EQ(kept, given);
}

TEST(EventLog, ALogWithoutRoomSaysSoOnce) {
  ASSERT_TRUE(std::filesystem::exists("/dev/full"));  // else the log would make a file of that name
  const EventLog log("/dev/full");
  ::testing::internal::CaptureStderr();
  log.add("entry", "1");
  log.add("entry", "2");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "warning: /dev/full: No space left on device: the log lacks lines from here on\n");
}

// kill -9 at any moment: what the workers had seen a second before is in the database, and the next session goes on.
TEST_F(CampaignTest, AKilledCampaignHasLostNothing) {
  const Broken broken(Broken::How::ReadsTheWrongRegister);
  const duel::Entered entered(broken);
  const std::array<const ir::Allocator*, 2> duelists = {duel::find_allocator("fatpoint"), &broken};
  const auto now = [] { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); };
  std::uint64_t next = 0;
  std::size_t checked = 0, failures = 0;
  std::vector<std::pair<double, double>> lost;  // from a second before the end of a session to the next one
  for (int round = 0; round < 20; ++round) {
    if (!lost.empty()) lost.back().second = now();
    const pid_t child = ::fork();
    if (child == 0) {
      CampaignOptions o = options(duelists, 0);
      o.seconds = 600;
      o.jobs = 2;
      o.log = path("log");
      static_cast<void>(run(o));
      ::_exit(0);
    }
    // Longer where a busy machine has not come to a failure in so many rounds.
    const int late = failures == 0 ? std::max(0, round - 9) : 0;
    ::usleep(static_cast<useconds_t>(1'100'000 + 37'000 * (round % 7) + 2'000'000 * late));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    lost.emplace_back(now() - 1, 1e18);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);

    Store store(path("c.sqlite"));
    std::set<std::string> inputs, sightings;
    for (const StoredInput& input : store.inputs()) inputs.insert(input.hash);
    for (const Sighting& s : store.sightings()) sightings.insert(s.failure.allocator + ": " + s.failure.signature);
    std::map<std::string, double> wanted;  // and when it was seen
    std::set<std::string> dropped;
    std::ifstream log(path("log"));
    for (std::string line; std::getline(log, line);) {
      const auto event = nlohmann::json::parse(line, nullptr, false);
      if (!event.is_object()) continue;  // the last line, half-written
      if (event.contains("dropped")) dropped.insert(event["dropped"].get<std::string>());
      const double time = event["time"];
      if (std::any_of(lost.begin(), lost.end(), [&](const auto& l) { return l.first < time && time < l.second; })) continue;
      if (event.contains("entry")) wanted.emplace(event["entry"].get<std::string>(), time);
      if (event.contains("failure")) {
        EXPECT_TRUE(sightings.contains(event["failure"].get<std::string>()))
            << "round " << round << ": " << line << ", seen " << lost.back().first + 1 - time << " s before";
        ++failures;
      }
    }
    for (const auto& [hash, time] : wanted)
      EXPECT_TRUE(dropped.contains(hash) || inputs.contains(hash))
          << "round " << round << ": " << hash << ", seen " << lost.back().first + 1 - time << " s before";
    checked += wanted.size();
    const std::uint64_t at = store.begin_session(1, "explore");
    EXPECT_GE(at, next);
    next = at;
  }
  EXPECT_GT(checked, 100u);
  EXPECT_GT(failures, 0u);
  EXPECT_GT(next, 20u);
}

TEST_F(CampaignTest, TwoMachinesMerge) {
  const Alone broken(Broken::How::ReadsTheWrongRegister);
  for (const std::uint64_t seed : {1, 2}) {
    fs::create_directories(path(fmt::format("machine{}", seed)));
    CampaignOptions o = options(broken.duelists, 100);
    o.seed = seed;
    o.db = path(fmt::format("machine{}/c.sqlite", seed));
    EXPECT_FALSE(run(o).found.empty());
  }
  Store both(path("both.sqlite"));
  std::set<std::string> buckets, hashes;
  for (const char* machine : {"machine1", "machine2"}) {
    const std::string db = path(fmt::format("{}/c.sqlite", machine));
    both.merge(db);
    Store one(db);
    for (const StoredFinding& f : one.findings()) buckets.insert(f.bucket);
    for (const StoredInput& i : one.inputs()) hashes.insert(i.hash);
  }
  std::set<std::string> merged_buckets, merged_hashes;
  for (const StoredFinding& f : both.findings()) merged_buckets.insert(f.bucket);
  for (const StoredInput& i : both.inputs()) merged_hashes.insert(i.hash);
  EXPECT_EQ(merged_buckets, buckets);
  EXPECT_EQ(merged_hashes, hashes);
  EXPECT_THAT(both.totals(), StartsWith("2 sessions over 2 seeds: 200 programs, "));
  EXPECT_EQ(both.begin_session(1, "explore"), 100u);
  EXPECT_EQ(both.begin_session(3, "explore"), 0u);
}

}  // namespace
}  // namespace regduel::fuzz
