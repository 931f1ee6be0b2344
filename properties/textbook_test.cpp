// The textbook allocators on the standard mix and on the regression cases, under all judges.

#include <array>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/io.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "duel/duel.h"

namespace regduel::properties {
namespace {

class Textbook : public testing::TestWithParam<const char*> {};

TEST_P(Textbook, PassesAllJudgesOnTheStandardMix) {
  const std::array<const ir::Allocator*, 1> duelists = {duel::find_allocator(GetParam())};
  int allocated = 0, spilled = 0;
  for (std::uint64_t k = 0; k < 120; ++k) {
    const duel::Case input = duel::standard_case(63, k, duelists);
    if (input.program.insts.size() > 1500) continue;
    const duel::Duel d = duel::duel(input, {.duelists = duelists});
    for (const duel::Bout& b : d.bouts) {
      for (const oracles::Finding& f : b.findings()) ADD_FAILURE() << "case " << k << ": " << f.message;
      if (!b.program) continue;
      ++allocated;
      spilled += b.measures.spill_store_bytes > 0;
    }
  }
  EXPECT_GE(allocated, 80);
  EXPECT_GE(spilled, 15);
}

TEST_P(Textbook, PassesAllJudgesOnTheRegressionCases) {
  const std::array<const ir::Allocator*, 1> duelists = {duel::find_allocator(GetParam())};
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(REGDUEL_SOURCE_DIR "/corpus/regression")) {
    if (entry.path().extension() != ".rir") continue;
    const auto text = read_file(entry.path().string());
    ASSERT_TRUE(text.has_value()) << text.error();
    auto input = duel::parse_case(*text, entry.path().string());
    ASSERT_TRUE(input.has_value()) << to_string(input.error());
    input->knobs.clear();  // of others
    for (const duel::Bout& b : duel::duel(*input, {.duelists = duelists}).bouts)
      for (const oracles::Finding& f : b.findings()) ADD_FAILURE() << entry.path() << ": " << f.message;
    ++cases;
  }
  EXPECT_GE(cases, 20);
}

INSTANTIATE_TEST_SUITE_P(All, Textbook, testing::Values("chaitin-briggs", "irc", "pbqp", "linear-scan", "chordal"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace regduel::properties
