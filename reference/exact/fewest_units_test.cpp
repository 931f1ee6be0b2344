// The proved fewest units against a search through all colourings, and on graphs whose chromatic number is known.

#include "reference/exact/fewest_units.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "base/random.h"
#include "reference/exact/dimacs.h"

namespace regduel::reference {
namespace {

// Each node where it may stand, apart from its neighbours.
void expect_colouring(const FileGraph& g, const std::vector<int>& unit_of, int units) {
  ASSERT_EQ(unit_of.size(), g.size());
  const auto place = [&](NodeId n) {
    return ir::PReg{ir::RegFile::R, static_cast<std::uint8_t>(g.units(n)), static_cast<std::uint16_t>(unit_of[n])};
  };
  for (NodeId n = 0; n < g.size(); ++n) {
    if (g.is_fixed(n)) continue;
    ASSERT_TRUE(g.positions(n, UnitSet::range(0, units)).has(unit_of[n])) << n;
    g.for_neighbours(n, [&](NodeId m) { ASSERT_FALSE(place(n).overlaps(place(m))) << n << ' ' << m; });
  }
}

// By trying everything.
bool can_colour(const FileGraph& g, const UnitSet& available, NodeId n, std::vector<int>& unit_of) {
  if (n == g.size()) return true;
  if (g.is_fixed(n)) return can_colour(g, available, n + 1, unit_of);
  const UnitSet at = g.positions(n, available);
  for (int p = at.first(); p >= 0; p = at.next(p + 1)) {
    const auto overlaps = [&](NodeId m) { return m < n && p < unit_of[m] + g.units(m) && unit_of[m] < p + g.units(n); };
    if (g.any_neighbour(n, overlaps)) continue;
    unit_of[n] = p;
    if (can_colour(g, available, n + 1, unit_of)) return true;
  }
  return false;
}
int fewest_by_trying(const FileGraph& g, int limit) {
  for (int k = 1; k <= limit; ++k) {
    std::vector<int> unit_of(g.size(), -1);
    if (can_colour(g, UnitSet::range(0, k), 0, unit_of)) return k;
  }
  return limit + 1;
}

TEST(FewestUnits, AgreesWithTryingEverything) {
  constexpr int kLimit = 9;
  int solved = 0, impossible = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    FileGraph g;
    const NodeId nodes = 4 + random.below(5);
    const bool has_tuples = random.chance(60), has_restrictions = random.chance(40);
    for (NodeId n = 0; n < nodes; ++n) {
      Temp t;
      if (has_tuples && random.chance(40)) {
        t.units = static_cast<std::uint8_t>(2 + random.below(3));
        t.align_log2 = static_cast<std::uint8_t>(random.below(3));
      }
      g.add_node(n, t);
    }
    g.finish_nodes();
    for (NodeId a = 0; a < nodes; ++a)
      for (NodeId b = a + 1; b < nodes; ++b)
        if (random.chance(55)) g.add_edge(a, b);
    if (has_restrictions)
      for (NodeId n = 0; n < nodes; ++n)
        if (random.chance(30)) g.forbid(n, UnitSet::range(static_cast<int>(random.below(3)), 4));
    g.finish();
    const int expected = fewest_by_trying(g, kLimit);
    const FewestUnits found = fewest_units(g, UnitSet::range(0, kLimit));
    solved += found.questions;
    if (expected > kLimit) {
      ++impossible;
      ASSERT_TRUE(found.is_impossible(kLimit)) << "seed " << seed;
      continue;
    }
    ASSERT_TRUE(found.is_proved()) << "seed " << seed;
    ASSERT_EQ(found.at_most, expected) << "seed " << seed;
    ASSERT_LE(found.clique, expected) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(expect_colouring(g, found.unit_of, found.at_most)) << "seed " << seed;
  }
  EXPECT_GT(solved, 50) << "some need the solver";
  EXPECT_GT(impossible, 3);
}

FileGraph graph(NodeId vertices, const std::vector<std::pair<NodeId, NodeId>>& edges) { return graph_of({vertices, edges}); }

// Mycielski's: one more colour at each step, and never a triangle.
std::pair<NodeId, std::vector<std::pair<NodeId, NodeId>>> mycielski(int steps) {
  NodeId n = 2;
  std::vector<std::pair<NodeId, NodeId>> edges = {{0, 1}};
  for (int k = 0; k < steps; ++k) {
    const auto old = edges;
    for (const auto& [a, b] : old) edges.emplace_back(a, n + b), edges.emplace_back(b, n + a);
    for (NodeId v = 0; v < n; ++v) edges.emplace_back(n + v, 2 * n);
    n = 2 * n + 1;
  }
  return {n, edges};
}
// Queens on a board that do not attack each other have one colour.
FileGraph queens(int size) {
  std::vector<std::pair<NodeId, NodeId>> edges;
  for (int a = 0; a < size * size; ++a)
    for (int b = a + 1; b < size * size; ++b) {
      const int rows = b / size - a / size, columns = b % size - a % size;
      if (rows == 0 || columns == 0 || rows == columns || rows == -columns) edges.emplace_back(a, b);
    }
  return graph(static_cast<NodeId>(size * size), edges);
}

TEST(FewestUnits, KnownChromaticNumbers) {
  const auto number = [](const FileGraph& g) {
    const FewestUnits f = fewest_units(g, UnitSet::range(0, 64), {.conflicts = 100'000, .proof = {}});
    EXPECT_TRUE(f.is_proved()) << f.at_least << " to " << f.at_most;
    expect_colouring(g, f.unit_of, f.at_most);
    return f.at_most;
  };
  for (int steps = 0; steps <= 3; ++steps) {
    const auto [n, edges] = mycielski(steps);
    EXPECT_EQ(number(graph(n, edges)), steps + 2);
  }
  EXPECT_EQ(number(queens(5)), 5);
  EXPECT_EQ(number(queens(6)), 7);
  EXPECT_EQ(number(queens(7)), 7);
  // The Petersen graph, odd and even cycles, a complete graph, no edge at all.
  EXPECT_EQ(number(graph(10, {{0, 1},
                              {1, 2},
                              {2, 3},
                              {3, 4},
                              {4, 0},
                              {0, 5},
                              {1, 6},
                              {2, 7},
                              {3, 8},
                              {4, 9},
                              {5, 7},
                              {7, 9},
                              {9, 6},
                              {6, 8},
                              {8, 5}})),
            3);
  EXPECT_EQ(number(graph(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}})), 3);
  EXPECT_EQ(number(graph(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}})), 2);
  EXPECT_EQ(number(graph(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}})), 4);
  EXPECT_EQ(number(graph(3, {})), 1);
}

// A pair beside two scalars that must not meet: three units do for the values, but not for their alignment.
TEST(FewestUnits, TuplesAreAligned) {
  FileGraph g;
  Temp pair;
  pair.units = 2;
  pair.align_log2 = 1;
  for (TempId t = 0; t < 2; ++t) g.add_node(t, pair);
  g.add_node(2, {});
  g.finish_nodes();
  g.add_edge(0, 2);
  g.add_edge(1, 2);
  g.forbid(2, UnitSet::range(2, 4));
  g.forbid(0, UnitSet::range(4, 8));
  g.finish();
  const FewestUnits f = fewest_units(g, UnitSet::range(0, 8));
  EXPECT_EQ(f.at_most, 4);
  EXPECT_TRUE(f.is_proved());
}

TEST(FewestUnits, AnEffortThatIsSpentLeavesARange) {
  const auto [n, edges] = mycielski(5);
  const FewestUnits f = fewest_units(graph(n, edges), UnitSet::range(0, 64), {.conflicts = 10, .proof = {}});
  EXPECT_FALSE(f.is_proved());
  EXPECT_EQ(f.at_least, 2);
  EXPECT_EQ(f.at_most, 7);
}

// Groetzsch's graph needs four colours and has no triangle; a triangle is a certificate of its own.
TEST(FewestUnits, WritesACertificate) {
  const auto path = (std::filesystem::temp_directory_path() / "regduel-fewest-units-proof").string();
  const auto take = [&](const char* ending) {
    const std::string text = read_file(path + ending).value_or("");
    std::filesystem::remove(path + ending);
    return text;
  };
  const auto [n, edges] = mycielski(2);
  const FewestUnits f = fewest_units(graph(n, edges), UnitSet::range(0, 16), {.conflicts = 100'000, .proof = path});
  EXPECT_EQ(f.at_most, 4);
  EXPECT_TRUE(f.is_proved());
  EXPECT_TRUE(take(".col").starts_with("p edge 11 20\na 0 15\ne 1 2\n"));
  const std::string formula = take(".cnf");
  EXPECT_TRUE(formula.starts_with("c k 4\nc x 1 0 1\n")) << formula;
  EXPECT_NE(formula.find("c in turn "), std::string::npos);
  EXPECT_NE(formula.find("\np cnf 33 "), std::string::npos) << "three units for each of eleven vertices";
  EXPECT_FALSE(take(".drat").empty());
  EXPECT_EQ(take(".clique"), "");

  EXPECT_TRUE(fewest_units(graph(3, {{0, 1}, {0, 2}, {1, 2}}), UnitSet::range(0, 16), {.proof = path}).is_proved());
  EXPECT_EQ(take(".clique"), "k 3\nv 1\nv 2\nv 3\n");
  EXPECT_EQ(take(".cnf"), "");
  EXPECT_FALSE(take(".col").empty());
}

// An aligned scalar had a variable for each unit in the clauses of its edges, which no line named, and the checker refused.
TEST(FewestUnits, ACertificateNamesEachVariable) {
  const auto [n, edges] = mycielski(2);
  FileGraph g;
  for (NodeId v = 0; v < n; ++v) {
    Temp t;
    t.align_log2 = v == 0 ? 1 : 0;
    g.add_node(v, t);
  }
  g.finish_nodes();
  for (const auto& [a, b] : edges) g.add_edge(a, b);
  g.finish();
  const auto path = (std::filesystem::temp_directory_path() / "regduel-fewest-units-names").string();
  EXPECT_TRUE(fewest_units(g, UnitSet::range(0, 16), {.conflicts = 100'000, .proof = path}).is_proved());
  std::set<std::string> named;
  std::istringstream formula(read_file(path + ".cnf").value_or(""));
  std::size_t clauses = 0;
  for (std::string line; std::getline(formula, line);) {
    std::istringstream words(line);
    std::string word, last;
    if (line.starts_with("c ")) {
      while (words >> word) last = word;
      named.insert(last);
    } else if (!line.starts_with("p ")) {
      ++clauses;
      while (words >> word && word != "0") EXPECT_TRUE(named.contains(word.starts_with("-") ? word.substr(1) : word)) << line;
    }
  }
  EXPECT_GT(clauses, 0u);
  for (const char* ending : {".col", ".cnf", ".drat"}) std::filesystem::remove(path + ending);
}

// Graphs of real register allocation, where somebody has them (REGDUEL_DIMACS = their folder).
TEST(FewestUnits, GraphsOfRegisterAllocation) {
  const char* const folder = std::getenv("REGDUEL_DIMACS");
  if (folder == nullptr) GTEST_SKIP() << "skipped: REGDUEL_DIMACS does not name a folder with mulsol.i.1.col and its like";
  const std::pair<const char*, int> known[] = {{"mulsol.i.1", 49}, {"mulsol.i.2", 31}, {"mulsol.i.3", 31}, {"mulsol.i.4", 31},
                                               {"mulsol.i.5", 31}, {"zeroin.i.1", 49}, {"zeroin.i.2", 30}, {"zeroin.i.3", 30}};
  for (const auto& [name, number] : known) {
    const std::string path = std::string(folder) + "/" + name + ".col";
    const auto text = read_file(path);
    ASSERT_TRUE(text.has_value()) << path;
    const auto parsed = parse_dimacs(*text, path);
    ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
    const FewestUnits f = fewest_units(graph_of(*parsed), UnitSet::range(0, 256));
    EXPECT_TRUE(f.is_proved()) << name;
    EXPECT_EQ(f.at_most, number) << name;
  }
}

}  // namespace
}  // namespace regduel::reference
