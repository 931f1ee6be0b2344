// Cheap victims are spilled for more warps if the budget model says that this pays.

#include "allocator/phases/occupancy_phase.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

// A kernel of 256 threads: 40 values from memory and one that can be computed again live at once, beside `body` instructions.
// 41 registers hold 40 warps, 40 hold 48.
std::string allocated(std::string_view first, const std::vector<std::pair<std::string, std::string>>& knobs, int body = 400) {
  std::string text = "rir 1\nfunc @t kernel target sm_90 threads 256\n";
  for (int v = 0; v <= 40; ++v) text += fmt::format("    vreg %{} R b32\n", v);
  text += fmt::format("    block b0\n      #0 {}\n", first);
  int id = 1;
  for (int v = 1; v <= 40; ++v) text += fmt::format("      #{} %{} = ld {}\n", id++, v, v);
  for (int k = 0; k < body; ++k) text += fmt::format("      #{} st %1 !write\n", id++);
  for (int v = 40; v >= 0; --v) text += fmt::format("      #{} st %{} !write\n", id++, v);
  text += fmt::format("      #{} exit\n", id);
  const auto module = ir::parse(text);
  if (!module) {
    ADD_FAILURE() << to_string(module.error());
    return "";
  }
  return ir::print(testing::allocate(module->functions[0], testing::limits(255), knobs).program);
}
constexpr std::string_view kConstant = "%0 = const 1 !remat", kLoad = "%0 = ld 0";

bool has(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

TEST(OccupancyPhase, ARematPaysForAStep) {
  const std::string with = allocated(kConstant, {}), without = allocated(kConstant, {{"FatPointOccupancy", "0"}});
  EXPECT_TRUE(has(with, "remat #0") && !has(with, "R40"));
  EXPECT_TRUE(has(without, "R40"));
}

TEST(OccupancyPhase, ASpillOnlyWhereItMay) {
  EXPECT_TRUE(has(allocated(kLoad, {}, 2000), "R40"));
  const std::string spilled = allocated(kLoad, {{"FatPointOccupancy", "2"}}, 2000);
  EXPECT_TRUE(has(spilled, "refill") && !has(spilled, "R40"));
  // Stores and refills are too much for a short program.
  EXPECT_TRUE(has(allocated(kLoad, {{"FatPointOccupancy", "2"}}, 10), "R40"));
}

TEST(OccupancyPhase, NotWhereTheModelToleratesLittleOccupancy) {
  EXPECT_TRUE(has(allocated(kConstant, {{"660", "40"}}), "R40"));
  EXPECT_TRUE(has(allocated(kConstant, {{"664", "1"}}), "R40"));
  EXPECT_TRUE(has(allocated(kConstant, {{"663", "40"}, {"665", "1"}}), "R40"));
}

}  // namespace
}  // namespace regduel::allocator
