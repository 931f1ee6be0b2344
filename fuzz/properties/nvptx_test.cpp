// Each knob of the coalescer for NVPTX changes what it makes of a share of the standard mix.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz/generate/standard_mix.h"
#include "ir/text/text.h"
#include "passes/nvptx/nvptx.h"

namespace regduel::fuzz {
namespace {

struct Lines final : ir::Trace {
  void line(std::string text) override { all += text + "\n"; }
  std::string all;
};
using Setting = std::pair<std::string, std::string>;

std::string result(const StandardCase& c, const Setting& setting, ir::Trace* trace = nullptr) {
  const std::array<Setting, 1> knobs = {setting};
  const auto after = passes::nvptx_coalescer().run(c.program, *ir::find_target(c.target), {.knobs = knobs, .trace = trace});
  EXPECT_TRUE(after.has_value()) << (after ? "" : after.error());
  return after ? ir::print(*after) : "";
}

TEST(NvptxKnobs, EachChangesResultsOnAShareOfTheMix) {
  // Of 300 programs, so many at least.
  const std::vector<std::pair<Setting, int>> cases = {{{"nvptx-copy-limit", "0"}, 150},     {{"nvptx-copy-limit", "10"}, 30},
                                                      {{"nvptx-coalesce-limit", "0"}, 150}, {{"nvptx-coalesce-limit", "10"}, 30},
                                                      {{"nvptx-block-level", "0"}, 3},      {{"nvptx-cross-block", "0"}, 50},
                                                      {{"nvptx-block-frequency", "0"}, 3},  {{"nvptx-wide", "0"}, 10},
                                                      {{"nvptx-parameters", "0"}, 5},       {{"nvptx-phis", "0"}, 30},
                                                      {{"nvptx-guarded", "1"}, 10}};
  std::vector<int> changed(cases.size(), 0);
  int verified = 0;
  for (std::uint64_t n = 0; n < 300; ++n) {
    const StandardCase c = standard_mix(4, n);
    Lines plain, verifying;
    const std::string usual = result(c, {"nvptx-verify", "0"}, &plain);
    EXPECT_EQ(result(c, {"nvptx-verify", "1"}, &verifying), usual);
    if (verifying.all != plain.all) ++verified;
    for (std::size_t k = 0; k < cases.size(); ++k)
      if (result(c, cases[k].first) != usual) ++changed[k];
  }
  EXPECT_GE(verified, 150);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto& [name, value] = cases[k].first;
    EXPECT_GE(changed[k], cases[k].second) << name << "=" << value;
    RecordProperty(name + "_" + value, changed[k]);
  }
}

}  // namespace
}  // namespace regduel::fuzz
