// Each knob of cicc changes what it does on a share of the standard mix, where it has as many registers as the limit allows.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "duel/case.h"
#include "ir/text/text.h"
#include "reference/colourer.h"

namespace regduel::properties {
namespace {

constexpr int kPrograms = 150;

std::string allocated(const ir::Allocator& cicc, const duel::Case& input, std::vector<std::pair<std::string, std::string>> knobs) {
  ir::AllocOptions options;
  options.limits = input.limits;
  options.knobs = std::move(knobs);
  const auto result = cicc.allocate(input.program, *input.target, options);
  return result ? ir::print(result->program) : result.error().message;
}

TEST(Cicc, EachKnobChangesAShareOfTheStandardMix) {
  const auto cicc = reference::make_cicc();
  const std::array<const ir::Allocator*, 1> duelists = {cicc.get()};
  struct Setting {
    const char* name;
    const char* value;
    int changed = 0;
  };
  std::vector<Setting> settings = {{"cicc-registers", "15"},    {"cicc-coalesce", "0"},           {"cicc-coalescing-factor", "2/1"},
                                   {"cicc-tiers", "0"},         {"cicc-constraint-edges", "0"},   {"cicc-loop-base", "10"},
                                   {"cicc-rematerialise", "0"}, {"cicc-lazy-refill", "0"},        {"cicc-max-rounds", "1"},
                                   {"cicc-spill-limit", "1"},   {"cicc-occupancy-target", "100"}, {"cicc-pressure-limit", "200"}};
  ASSERT_EQ(settings.size(), cicc->knobs().size());
  for (std::uint64_t k = 0; k < kPrograms; ++k) {
    const duel::Case input = duel::standard_case(11, k, duelists);
    if (input.program.insts.size() > 1500) continue;
    const std::string plain = allocated(*cicc, input, {{"cicc-registers", "1000"}});
    for (Setting& s : settings) s.changed += allocated(*cicc, input, {{"cicc-registers", "1000"}, {s.name, s.value}}) != plain;
  }
  for (const Setting& s : settings) {
    EXPECT_GE(s.changed, kPrograms / 50) << s.name << " = " << s.value;
    RecordProperty(s.name, s.changed);
  }
}

}  // namespace
}  // namespace regduel::properties
