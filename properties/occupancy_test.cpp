// Knob FatPointOccupancy and the knobs of the budget model give their purpose: more warps for hardly more instructions and no more
// spills, on programs of the standard mix that no limit makes spill.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "generate/standard_mix.h"
#include "ir/text/text.h"
#include "oracles/before.h"
#include "oracles/quality/quality.h"

namespace regduel::properties {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

struct Sums {
  std::int64_t registers = 0, occupancy = 0, spill_bytes = 0, remats = 0, instructions = 0;
  std::vector<std::string> programs;
};

constexpr int kPrograms = 150;

Sums play(const Settings& knobs) {
  Sums sums;
  for (std::uint64_t n = 0; n < kPrograms; ++n) {
    const generate::StandardCase c = generate::standard_mix(3, n);
    const ir::Target& target = *ir::find_target(c.target);
    ir::AllocOptions options;
    options.limits = ir::Limits::of(target);
    options.knobs = knobs;
    const auto allocation = duel::find_allocator("fatpoint")->allocate(c.program, target, options);
    if (!allocation) {
      sums.programs.emplace_back();
      continue;
    }
    const oracles::Measures m = oracles::measure(oracles::Before(c.program, target), allocation->program);
    sums.registers += m.registers[ir::index(ir::RegFile::R)];
    sums.occupancy += m.occupancy_percent;
    sums.spill_bytes += m.spill_store_bytes + m.spill_load_bytes;
    sums.remats += m.remats;
    sums.instructions += m.instructions_after;
    sums.programs.push_back(ir::print(allocation->program));
  }
  return sums;
}
int changed(const Sums& a, const Sums& b) {
  int sum = 0;
  for (std::size_t k = 0; k < a.programs.size(); ++k) sum += a.programs[k] != b.programs[k] ? 1 : 0;
  return sum;
}

TEST(Occupancy, MoreWarpsForRematsAndNoSpills) {
  const Sums off = play({{"FatPointOccupancy", "0"}}), on = play({}), spilling = play({{"FatPointOccupancy", "2"}});
  EXPECT_GE(changed(off, on), 5);
  EXPECT_LT(on.registers, off.registers);
  EXPECT_GE(100 * on.occupancy, 101 * off.occupancy) << on.occupancy << " after " << off.occupancy;
  EXPECT_EQ(on.spill_bytes, off.spill_bytes);
  EXPECT_LE(1000 * on.instructions, 1002 * off.instructions);
  EXPECT_GT(spilling.occupancy, on.occupancy);
  EXPECT_GE(spilling.spill_bytes, on.spill_bytes);
  RecordProperty("occupancy_in_thousandths", static_cast<int>(1000 * on.occupancy / off.occupancy));
  RecordProperty("with_spills_in_thousandths", static_cast<int>(1000 * spilling.occupancy / off.occupancy));
}

// The higher the fraction at so many registers, the fewer warps; what a knob needs others for is said with it.
TEST(Occupancy, TheKnobsOfTheModelChangeAShareOfTheMix) {
  struct Row {
    const char *knob, *higher;
    Settings with;
  };
  // 660: B from there on. 664: A. 663: A up to there, then the slope; with it C and B count at fewer than 119 registers too.
  const Row rows[] = {{"660", "0", {}},
                      {"664", "1.0", {}},
                      {"663", "1", {{"665", "1.0"}}},
                      {"665", "1.0", {{"663", "1"}}},
                      {"661", "1000", {{"663", "1"}}}};
  for (const Row& row : rows) {
    Settings higher = row.with;
    higher.emplace_back(row.knob, row.higher);
    const Sums plain = play(row.with), tolerant = play(higher);
    const int share = changed(plain, tolerant);
    EXPECT_GE(share, 5) << row.knob;
    RecordProperty(row.knob, share);
    if (row.knob == std::string_view("661")) continue;  // so high that guidance names nobody, and others decide what is spilled
    EXPECT_LT(tolerant.occupancy, plain.occupancy) << row.knob;
    EXPECT_GT(tolerant.registers, plain.registers) << row.knob;
  }
}

}  // namespace
}  // namespace regduel::properties
