// Campaigns and the tools on trial: fuzz, reduce, merge, export, faults, zoo.
#include <csignal>
#include <regex>
#include <set>

#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

TEST_F(Cli, ZooCountsTheBucketsOfABug) {
  const Outcome r = run("zoo --buckets --only fatpoint-tie-dropped --time 5 --empty --json");
  if (r.status == 2) {
    EXPECT_THAT(r.err, HasSubstr("this build has no planted bugs"));
    return;
  }
  // Interrupted, it says what it has, and leaves nothing running.
  std::system(fmt::format("timeout -s INT 2 '{}' zoo --time 3600 --empty --only fatpoint-tie-dropped --seed 4711 --buckets --json "
                          "> '{}' 2> /dev/null",
                          REGDUEL_PROGRAM, path("interrupted"))
                  .c_str());
  EXPECT_EQ(nlohmann::json::parse(read_file(path("interrupted")).value_or(""))["of"], 0);
  EXPECT_NE(std::system("pgrep -f '^[^ ]*regduel fuzz .*--seed 4711' > /dev/null"), 0);
  const auto j = nlohmann::json::parse(r.out);
  ASSERT_EQ(j["bugs"].size(), 1u);
  EXPECT_EQ(j["bugs"][0]["bug"], "fatpoint-tie-dropped");
  std::size_t cases = 0;
  std::set<std::string> buckets;
  for (const auto& b : j["bugs"][0]["buckets"]) {
    cases += b["cases"].get<std::size_t>();
    buckets.insert(b["bucket"].get<std::string>());
  }
  EXPECT_TRUE(buckets.contains("fatpoint: structure/tied-operand")) << r.out;
  EXPECT_EQ(j["most_buckets"], buckets.size());
  EXPECT_EQ(j["cases"], cases);
  EXPECT_EQ(j["purity_percent"], 100.0) << "there is one bug";
}

TEST_F(Cli, FaultsAreTheSameForAnyNumberOfThreads) {
  const auto without_seconds = [](std::string json) { return std::regex_replace(json, std::regex("\"seconds\": [^\\n]*"), ""); };
  const Outcome one = run("faults --runs 21 --seed 2 --jobs 1 --json");
  const Outcome two = run("faults --runs 21 --seed 2 --jobs 3 --json");
  EXPECT_EQ(one.status, 0) << one.out << one.err;
  EXPECT_EQ(without_seconds(one.out), without_seconds(two.out));
  const auto doc = nlohmann::json::parse(one.out);
  EXPECT_EQ(doc["runs"], 21);
  EXPECT_EQ(doc["escaped"], 0);
  EXPECT_EQ(doc["false_alarms"], 0);
  EXPECT_GT(doc["total"]["injected"], 60);
  EXPECT_EQ(doc["total"]["caught_by_static"], doc["total"]["trace_changing"]);
  EXPECT_EQ(doc["relaxed"].size(), 7u);
  for (const auto& row : doc["operators"])
    for (const char* key :
         {"operator", "what", "memcheck_codes", "structure_categories", "injected", "trace_changing", "caught", "memcheck_right"})
      EXPECT_TRUE(row.contains(key)) << key;
  const auto alone = json("faults --run 19 --seed 2 --json");
  EXPECT_EQ(alone["runs"], 1);
  EXPECT_GT(alone["total"]["injected"], 8) << "all that find a place";
  const Outcome text = run("faults --runs 7 --seed 2");
  EXPECT_EQ(text.status, 0) << text.out;
  EXPECT_THAT(text.out, HasSubstr("trace-changing faults caught by a static judge"));
  EXPECT_THAT(text.out, HasSubstr("no miss"));
}

TEST_F(Cli, LongWorkKeepsWhatItHasWhereItIsInterrupted) {
  EXPECT_THAT(run("fuzz --runs 20 --seed 9").out, HasSubstr("0 findings"));
  const std::vector<std::string> commands[] = {{"fuzz", "--time", "600s", "--jobs", "1", "--corpus", path("found")},
                                               {"faults", "--runs", "1000000", "--jobs", "1"},
                                               {"faults", "--rewritings", "1000000", "--jobs", "1"}};
  for (const std::vector<std::string>& command : commands) {
    std::vector<char*> argv = {const_cast<char*>(REGDUEL_PROGRAM)};
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string out = path("said");
      if (std::freopen(out.c_str(), "w", stdout) == nullptr) ::_exit(99);
      ::execv(REGDUEL_PROGRAM, argv.data());
      ::_exit(98);
    }
    ::usleep(700'000);
    ASSERT_EQ(::kill(child, SIGINT), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command[1];
    EXPECT_THAT(read_file(path("said")).value(), HasSubstr("(interrupted)")) << command[1];
  }
}

TEST_F(Cli, ReduceKeepsWhatItIsAskedToKeep) {
  ASSERT_EQ(run("gen --seed 3 --size 300 -o g.rir").status, 0);
  // A script decides: a program that still has a guard.
  const Outcome r = run("reduce g.rir --test 'grep -q \"  #.* @\"' -o small.rir --json");
  ASSERT_EQ(r.status, 0) << r.err;
  const auto doc = nlohmann::json::parse(r.out);
  EXPECT_EQ(doc["instructions"], 3) << read_file(path("small.rir")).value();  // the guard's def, the guarded instruction, the end
  EXPECT_TRUE(doc["minimal"]);
  EXPECT_EQ(run("reduce g.rir --test 'grep -q \"  #.* @\"' -o again.rir").status, 0);
  EXPECT_EQ(read_file(path("small.rir")).value().substr(60), read_file(path("again.rir")).value().substr(60));
  EXPECT_EQ(run("duel small.rir").status, 0);
  expect_complaint("reduce g.rir -o x.rir", "nothing to reduce");
  expect_complaint("reduce g.rir --test false -o x.rir", "does not show");
  expect_complaint("reduce g.rir --gap briggs/fatpoint:registers -o x.rir", "expected WORSE/BETTER:FIGURE>=RATIO");
  expect_complaint("reduce g.rir --signature a/b@c -o x.rir", "does not show a/b@c");
  EXPECT_FALSE(fs::exists(path("x.rir")));
}

TEST_F(Cli, ACampaignGoesOnWhereItStopped) {
  ASSERT_EQ(run("fuzz --runs 7 --seed 3 --db c.sqlite").status, 0);
  const auto doc = json("fuzz --runs 5 --seed 3 --db c.sqlite --json");
  EXPECT_EQ(doc["first"], 7);
  EXPECT_EQ(doc["runs"], 5);
  EXPECT_EQ(json("fuzz --runs 1 --seed 3 --db c.sqlite --json")["first"], 12);
  EXPECT_EQ(json("fuzz --runs 1 --seed 4 --db c.sqlite --json")["first"], 0);
  EXPECT_THAT(run("fuzz --runs 2 --seed 4 --db c.sqlite").out, HasSubstr("5 sessions over 2 seeds: 16 programs, "));
  write("not.sqlite", "this is no database, whatever its name says; it is rather a text, and a long enough one");
  expect_complaint("fuzz --runs 1 --db not.sqlite", "not.sqlite");
}

TEST_F(Cli, ShardsMergeAndAreExported) {
  for (const int seed : {1, 2})
    ASSERT_EQ(run(fmt::format("fuzz --runs 60 --jobs 1 --seed {} --db {}.sqlite", seed, seed)).status, 0);
  EXPECT_EQ(read_file(path("1.sqlite")).value_or("").substr(18, 2), "\1\1")
      << "a file by itself, without a log to be written beside it";
  const auto merged = json("merge 1.sqlite 2.sqlite -o all.sqlite --json");
  EXPECT_GT(merged["inputs_before"], merged["inputs"]);
  EXPECT_THAT(merged["totals"].get<std::string>(), StartsWith("2 sessions over 2 seeds: 120 programs, "));
  const auto exported = json("export all.sqlite --inputs all --json");
  EXPECT_EQ(exported["inputs"], merged["inputs"]);
  EXPECT_EQ(json("export all.sqlite --inputs some --most 5 --json")["inputs"], 5);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("some")), fs::directory_iterator()), 5);
  const auto again = json("fuzz --runs 8 --jobs 1 --seeds some --db again.sqlite --json");
  EXPECT_GE(again["inputs"], 5);
  expect_complaint("merge 1.sqlite none.sqlite -o all.sqlite", "none.sqlite: No such file or directory");
  expect_complaint("export all.sqlite", "--inputs DIR, --findings DIR");
  expect_complaint("export all.sqlite --findings f --state new", "--state: expected crashing");
  expect_complaint("fuzz --runs 1 --mix --seeds some", "exclude each other");
  write("s.txt", "briggs a/b until tomorrow\n");
  expect_complaint("fuzz --runs 1 --suppress s.txt", "s.txt:1:18: error: expected a date");
}

}  // namespace
}  // namespace regduel::cli
