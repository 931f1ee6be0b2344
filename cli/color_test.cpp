// `regduel color` as its users run it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing.h"

namespace regduel::cli {
namespace {

using ColorCli = Cli;
using ::testing::HasSubstr;

// A wheel with five spokes: four colours, and no clique of more than three.
constexpr const char* kWheel = "c a wheel\np edge 6 10 3\ne 1 2\ne 2 3\ne 3 4\ne 4 5\ne 5 1\ne 6 1\ne 6 2\ne 6 3\ne 6 4\ne 6 5\n";

TEST_F(ColorCli, ProvesTheFewestColours) {
  write("wheel.col", kWheel);
  const auto doc = nlohmann::json::parse(run("color wheel.col --json").out);
  ASSERT_EQ(doc["results"].size(), 2u);
  const auto &briggs = doc["results"][0], &exact = doc["results"][1];
  EXPECT_EQ(briggs["clique"], 3);
  EXPECT_EQ(briggs["colours"], 4);
  EXPECT_EQ(exact["by"], "exact");
  EXPECT_EQ(exact["colours"], 4);
  EXPECT_EQ(exact["at_least"], 4);
  EXPECT_EQ(exact["questions"], 1);
  EXPECT_THAT(run("color wheel.col --with exact").out, HasSubstr("proved"));
}

TEST_F(ColorCli, TooFewColours) {
  write("wheel.col", kWheel);
  const auto doc = nlohmann::json::parse(run("color wheel.col --regs 3 --json").out);
  EXPECT_EQ(doc["results"][0]["spilled"], 1);
  EXPECT_TRUE(doc["results"][0]["colours"].is_null());
  EXPECT_TRUE(doc["results"][1]["colours"].is_null());
  EXPECT_EQ(doc["results"][1]["at_least"], 4);
}

TEST_F(ColorCli, FindsTheCliqueBesideHubsOfHigherDegree) {
  const auto doc = nlohmann::json::parse(run("color " + source("corpus/dimacs/hubs30.col") + " --json").out);
  EXPECT_EQ(doc["results"][0]["clique"], 30);
  const Outcome loops = run("color " + source("corpus/dimacs/self_loop.col"));
  EXPECT_EQ(loops.status, 0);
  EXPECT_THAT(loops.err, HasSubstr("note: 1 loops from a vertex to itself are passed over"));
}

TEST_F(ColorCli, WritesAProof) {
  write("wheel.col", kWheel);
  EXPECT_EQ(run("color wheel.col --with exact --proof p").status, 0);
  EXPECT_THAT(read_file(path("p.cnf")).value_or(""), HasSubstr("\np cnf 18 "));
  EXPECT_THAT(read_file(path("p.col")).value_or(""), HasSubstr("p edge 6 10\n"));
  EXPECT_FALSE(read_file(path("p.drat")).value_or("").empty());
}

// 512 units are the most that there can be.
TEST_F(ColorCli, MoreColoursThanThereCanBe) {
  std::string clique = "p edge 514 131841\n";
  for (int a = 2; a <= 514; ++a)
    for (int b = 1; b < a; ++b) clique += fmt::format("e {} {}\n", a, b);
  write("clique.col", clique);
  const auto results = nlohmann::json::parse(run("color clique.col --json").out)["results"];
  for (const auto& r : results) EXPECT_TRUE(r["colours"].is_null()) << r;
  EXPECT_EQ(results[0]["spilled"], 2);
  EXPECT_EQ(results[1]["at_least"], 513);
}

TEST_F(ColorCli, BadInput) {
  write("wheel.col", kWheel);
  write("bad.col", "p edge 3 1\ne 1 4\n");
  expect_complaint("color bad.col", "bad.col:2:5: error: expected a number from 1 to 3");
  expect_complaint("color nothing.col", "nothing.col");
  expect_complaint("color wheel.col --with nobody", "nobody colours graphs as \"nobody\" (there are briggs, exact)");
  expect_complaint("color wheel.col --regs 513", "--regs: expected 1 to 512");
  expect_complaint("color wheel.col --effort 0", "--effort: expected 1 to 1000000");
  expect_complaint("color wheel.col wheel.col --proof p", "--proof: of one graph alone");
}

}  // namespace
}  // namespace regduel::cli
