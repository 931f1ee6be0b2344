// The program as its users run it.
#include <set>

#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

TEST_F(Cli, BenchMeasuresEveryJudgeAndAllocator) {
  const Outcome r = run("--json --sizes 40,80 --instructions 80 --repetitions 1 --duels 2");
  ASSERT_EQ(r.status, 0) << r.err;
  const auto doc = nlohmann::json::parse(r.out);
  ASSERT_EQ(doc["programs"].size(), 2u);
  EXPECT_GT(doc["programs"][0]["programs"], doc["programs"][1]["programs"]);
  for (const auto& corpus : doc["programs"])
    EXPECT_TRUE(corpus["spilling_allocations"] > 0 && corpus["allocated_instructions"] > corpus["instructions"]);
  std::set<std::string> names;
  for (const auto& row : doc["results"]) {
    names.insert(row["name"]);
    ASSERT_EQ(row["sizes"].size(), 2u);
    for (const auto& cell : row["sizes"])
      for (const char* key : {"ns_per_instruction", "median_ns_per_instruction", "times_fatpoint"})
        EXPECT_TRUE(cell[key].is_number()) << key;
    EXPECT_TRUE(row["growth"].is_number());
    EXPECT_EQ(row["growth_per_instruction_read"].is_number(), row["kind"] == "judge");
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"fatpoint", "briggs", "structure", "memcheck", "execution", "quality", "all judges"}));
  EXPECT_TRUE(doc["duels_per_second"].is_number());
  EXPECT_GT(doc["bred"]["duels_per_second"], 0);
  EXPECT_TRUE(doc["gate_failures"].is_array());
  std::set<std::string> layers;
  for (const auto& layer : doc["duel_target"]["layers"]) layers.insert(layer["layer"]);
  EXPECT_THAT(layers, testing::IsSupersetOf({"breed", "fatpoint", "briggs", "memcheck", "symbolic", "features"}));
  EXPECT_GT(doc["duel_target"]["duels_per_second"], 0);

  const Outcome text = run("--sizes 40 --instructions 40 --repetitions 1 --filter 'structure|fatpoint'");
  EXPECT_THAT(text.out, AllOf(HasSubstr("ns/inst"), HasSubstr("structure"), HasSubstr("fatpoint"), Not(HasSubstr("memcheck"))));
  EXPECT_THAT(run("--sizes 40,400 --instructions 40 --repetitions 1 --filter '^structure/40$'").out,
              AllOf(testing::ContainsRegex("structure +[0-9]+ +-"), Not(HasSubstr("memcheck"))));
  expect_complaint("--sizes 40 --instructions 40 --filter nothing", "nothing is called");
  expect_complaint("--sizes 80,40", "--sizes");
  expect_complaint("--filter '('", "--filter");
}

}  // namespace
}  // namespace regduel::cli
