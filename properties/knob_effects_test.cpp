// Each knob of fatpoint, classic, briggs and cicc changes a share of the standard mix and moves the figure that it is for, in the direction
// that its help says. Where a knob is worth something the default is compared with less of it. `regduel knobs` says which knobs
// are inert by default, and why; here what they need is set in both runs.
//
// Tests of their own have 641 (banks_test), 660 to 665 and FatPointOccupancy (occupancy_test), FatPointLowerLimits
// (lower_limits_test), and of classic 618 (preallocation_test), 660 to 663 (budget_model_test) and DisableSmemReservation
// (shared_memory_test).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "generate/standard_mix.h"
#include "ir/text/text.h"
#include "oracles/before.h"
#include "oracles/quality/quality.h"

namespace regduel::properties {
namespace {

constexpr std::size_t kPrograms = 120, kMostInstructions = 300;

using Settings = std::vector<std::pair<std::string, std::string>>;

enum class Figure : std::uint8_t { None, Registers, SpillBytes, Accesses, Remats, Copies, Packs, SharedBytes, Conflicts };
constexpr std::string_view kFigures[] = {"",       "registers", "weighted spill bytes", "spills and refills", "remats",
                                         "copies", "packs",     "shared bytes",         "bank conflicts"};
constexpr std::size_t kNumFigures = std::size(kFigures);

std::array<std::int64_t, kNumFigures> figures_of(const oracles::Measures& m) {
  return {0,
          m.registers[ir::index(ir::RegFile::R)],
          m.weighted_spill_bytes.value_or(0),
          m.spill_stores + m.spill_loads,
          m.remats,
          m.inserted_copies + m.kept_copies,
          m.pack_operations,
          m.shared_spill_bytes,
          m.bank_conflicts};
}

struct Played {
  std::string text;  // of the allocation, empty where there is none
  std::array<std::int64_t, kNumFigures> figures = {};
};

std::vector<generate::StandardCase> cases() {
  std::vector<generate::StandardCase> all;
  for (std::uint64_t n = 0; all.size() < kPrograms; ++n)
    if (generate::StandardCase c = generate::standard_mix(7, n); c.program.insts.size() <= kMostInstructions)
      all.push_back(std::move(c));
  return all;
}

std::vector<Played> play(const std::string& allocator, const Settings& knobs) {
  static const std::vector<generate::StandardCase> kCases = cases();
  std::vector<Played> all;
  for (const generate::StandardCase& c : kCases) {
    const ir::Target& target = *ir::find_target(c.target);
    ir::AllocOptions options;
    options.limits = c.limits;
    options.knobs = knobs;
    const auto allocation = duel::find_allocator(allocator)->allocate(c.program, target, options);
    all.emplace_back();
    if (!allocation) continue;
    all.back().text = ir::print(allocation->program);
    all.back().figures = figures_of(oracles::measure(oracles::Before(c.program, target), allocation->program));
  }
  return all;
}

enum class Direction : std::uint8_t { Less, More };

struct Effect {
  std::string knob, value;
  Settings with;  // in both runs
  int fewest;     // programs that change
  // Geometric mean over the programs. Figure::None: what the knob decides moves no figure for the better or the worse.
  Figure figure = Figure::None;
  Direction direction = Direction::More;
};

struct Change {
  int changed = 0, refused = 0;  // programs
  double ratio = 1;              // geometric mean, of figures and 16 more
};
Change compare(const std::vector<Played>& before, const std::vector<Played>& after, Figure figure) {
  Change change;
  double logs = 0;
  int both = 0;
  for (std::size_t n = 0; n < before.size(); ++n) {
    change.changed += before[n].text != after[n].text ? 1 : 0;
    if (before[n].text.empty()) continue;
    if (after[n].text.empty()) {
      ++change.refused;
      continue;
    }
    const auto at = [&](const Played& p) { return static_cast<double>(p.figures[static_cast<std::size_t>(figure)] + 16); };
    logs += std::log(at(after[n]) / at(before[n]));
    ++both;
  }
  if (both > 0) change.ratio = std::exp(logs / both);
  return change;
}

// Also that each knob of the allocator has a row.
//   elsewhere   knobs with tests of their own
void expect_effects(const std::string& allocator, const std::vector<Effect>& effects, std::vector<std::string> elsewhere = {}) {
  for (const Effect& e : effects) elsewhere.push_back(e.knob);
  for (const ir::KnobInfo& knob : duel::find_allocator(allocator)->knobs())
    EXPECT_TRUE(std::ranges::count(elsewhere, knob.name) + std::ranges::count(elsewhere, std::to_string(knob.id)) > 0) << knob.name;
  std::map<Settings, std::vector<Played>> without;
  for (const Effect& e : effects) {
    if (!without.contains(e.with)) without[e.with] = play(allocator, e.with);
    Settings settings = e.with;
    settings.emplace_back(e.knob, e.value);
    const Change change = compare(without[e.with], play(allocator, settings), e.figure);
    const std::string_view figure = kFigures[static_cast<std::size_t>(e.figure)];
    fmt::print("{}={}: {} of {} programs change{}\n", e.knob, e.value, change.changed, kPrograms,
               e.figure == Figure::None ? "" : fmt::format(", {} {:.3f}", figure, change.ratio));
    EXPECT_GE(change.changed, e.fewest) << e.knob << "=" << e.value;
    EXPECT_EQ(change.refused, 0) << e.knob << "=" << e.value;
    if (e.figure == Figure::None) continue;
    if (e.direction == Direction::More) {
      EXPECT_GT(change.ratio, 1) << e.knob << "=" << e.value << ": " << figure;
    } else {
      EXPECT_LT(change.ratio, 1) << e.knob << "=" << e.value << ": " << figure;
    }
  }
}

TEST(KnobEffects, OfFatpoint) {
  using enum Figure;
  using enum Direction;
  expect_effects("fatpoint",
                 {{"623", "1", {}, 25, SpillBytes, More},
                  {"638", "1", {}, 10},
                  {"639", "8", {{"638", "1"}}, 6, Registers, Less},
                  {"RegisterUsageLevel", "10", {}, 40, Registers, Less},
                  {"FastCompile", "3", {}, 35, Copies, More},
                  {"DisableSmemReservation", "1", {}, 3, SharedBytes, Less},
                  {"FatPointSpillRounds", "1", {}, 45, SpillBytes, More},
                  {"FatPointRematerialise", "0", {}, 45, SpillBytes, More},
                  {"FatPointRefillReuse", "0", {}, 35, SpillBytes, More},
                  {"FatPointLargeProgram", "0", {}, 10, SpillBytes, More},
                  {"FatPointPoolLimit", "0", {}, 30, Remats, More},
                  {"FatPointSplitLiveRanges", "0", {}, 40, SpillBytes, More},
                  {"FatPointPredicatePacks", "0", {}, 20, Packs, Less},
                  {"FatPointWideAccesses", "0", {}, 30, Accesses, More},
                  {"FatPointChains", "0", {}, 15, Copies, More},
                  {"FatPointMergeCopies", "0", {}, 20, Copies, More},
                  {"FatPointConstraintTypes", "0", {}, 20, Copies, More},
                  {"FatPointOrders", "1", {}, 20, Registers, More},
                  {"FatPointPackingAttempt", "0", {}, 3},
                  {"FatPointGuidance", "0", {}, 30, SpillBytes, More},
                  {"FatPointEviction", "0", {{"FatPointMovingHomes", "0"}}, 45, SpillBytes, More},
                  {"FatPointMovingHomes", "0", {}, 40, SpillBytes, More}},
                 {"641", "660", "661", "663", "664", "665", "FatPointOccupancy", "FatPointLowerLimits"});
}

TEST(KnobEffects, OfClassic) {
  using enum Figure;
  using enum Direction;
  const Settings aware = {{"641", "1"}};
  expect_effects("classic",
                 {{"622", "0", {}, 5},
                  {"623", "1", {}, 20, SpillBytes, More},
                  {"628", "0", {}, 5},
                  {"629", "0", {}, 3},
                  {"638", "1", {}, 2},
                  {"639", "8", {{"638", "1"}}, 1},
                  {"641", "1", {}, 20},
                  {"642", "0", {}, 20},
                  {"643", "1000", aware, 10},
                  {"646", "1", {}, 3},
                  {"664", "1", {}, 2},
                  {"665", "1", {}, 2},
                  {"684", "0", {}, 1},
                  {"RegisterUsageLevel", "10", {}, 45, Registers, Less},
                  {"FastCompile", "3", {}, 5},
                  {"FatPointSpillRounds", "0", {}, 30},
                  {"FatPointRematerialise", "0", {}, 45, SpillBytes, More},
                  {"FatPointRefillReuse", "0", {}, 30, SpillBytes, More},
                  {"FatPointPoolLimit", "0", {}, 20},
                  {"FatPointPredicatePacks", "0", {}, 10, Packs, Less},
                  {"FatPointWideAccesses", "0", {}, 20, Accesses, More},
                  {"FatPointChains", "0", {}, 40, Copies, More},
                  {"FatPointConstraintTypes", "0", {}, 20},
                  {"FatPointGuidance", "0", {}, 30, SpillBytes, More}},
                 {"618", "660", "661", "663", "DisableSmemReservation"});
}

TEST(KnobEffects, OfBriggs) {
  using enum Figure;
  using enum Direction;
  expect_effects("briggs",
                 {{"briggs-biased-select", "0", {}, 20, Copies, More},
                  {"briggs-bold-coalescing", "0", {}, 15, Copies, More},
                  {"briggs-coalesce", "0", {}, 30, Copies, More},
                  {"briggs-coalescing-factor", "4/5", {{"briggs-bold-coalescing", "0"}}, 8, Copies, Less},
                  {"briggs-coalescing-factor", "2/1", {{"briggs-bold-coalescing", "0"}}, 10, Copies, More},
                  {"briggs-fewest-units", "0", {}, 25, Registers, More},
                  {"briggs-lazy-refill", "0", {}, 40, SpillBytes, More},
                  {"briggs-loop-base", "1", {}, 25, SpillBytes, More},
                  {"briggs-max-rounds", "1", {}, 45, SpillBytes, More},
                  {"briggs-occupancy-target", "75", {}, 5, Registers, Less},
                  {"briggs-refill-distance", "1", {}, 35, SpillBytes, More},
                  {"briggs-rematerialise", "0", {}, 40, SpillBytes, More}},
                 {"briggs-spill-limit"});
}

// Its tiers, its constraint edges and the limit of its pressure are the source's, and cost spill bytes.
TEST(KnobEffects, OfCicc) {
  using enum Figure;
  using enum Direction;
  expect_effects("cicc",
                 {{"cicc-coalesce", "0", {}, 35, Copies, More},
                  {"cicc-coalescing-factor", "2/1", {}, 40, Copies, More},
                  {"cicc-constraint-edges", "0", {}, 45, SpillBytes, Less},
                  {"cicc-lazy-refill", "0", {}, 45, SpillBytes, More},
                  {"cicc-loop-base", "10", {}, 25},
                  {"cicc-max-rounds", "1", {}, 45, SpillBytes, More},
                  {"cicc-occupancy-target", "75", {{"cicc-registers", "1000"}}, 7, Registers, Less},
                  {"cicc-pressure-limit", "1000000", {}, 35, SpillBytes, Less},
                  {"cicc-registers", "1000", {}, 45, SpillBytes, Less},
                  {"cicc-rematerialise", "0", {}, 55, SpillBytes, More},
                  {"cicc-tiers", "0", {}, 60, SpillBytes, Less}},
                 {"cicc-spill-limit"});
}

// Programs with more spilled values than that are refused, all others are as they were.
TEST(KnobEffects, ASpillLimitRefuses) {
  for (const std::string allocator : {"briggs", "cicc"}) {
    const std::vector<Played> without = play(allocator, {}), with = play(allocator, {{allocator + "-spill-limit", "10"}});
    const Change change = compare(without, with, Figure::None);
    EXPECT_GE(change.refused, 40) << allocator;
    EXPECT_EQ(change.changed, change.refused) << allocator;
    EXPECT_LT(change.refused, static_cast<int>(kPrograms)) << allocator;
  }
}

}  // namespace
}  // namespace regduel::properties
