#include "generate/standard_mix.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "generate/program_facts.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::generate {
namespace {

TEST(StandardMix, HasItsShares) {
  constexpr int kCases = 1500;
  std::vector<std::size_t> sizes;
  int impossible = 0, tight = 0;
  std::vector<int> profile_count(kNumProfiles, 0), file_limited(ir::kNumFiles, 0);
  for (int i = 0; i < kCases; ++i) {
    const StandardCase c = standard_mix(1, static_cast<std::uint64_t>(i));
    const ir::Target& target = *ir::find_target(c.target);
    ASSERT_TRUE(ir::check(c.program, target).empty());
    sizes.push_back(c.program.insts.size());
    ++profile_count[static_cast<std::size_t>(c.profile)];
    const ir::PerFile<int> bound = demand_bound(c.program, target);
    bool fits = true;
    for (const ir::RegFile file : ir::kAllFiles) {
      const std::size_t k = ir::index(file);
      ASSERT_LE(c.limits.units[k], target.units[k]);
      ASSERT_EQ(c.limits.units[k] > 0, target.units[k] > 0);
      fits = fits && bound[k] <= c.limits.units[k];
      file_limited[k] += c.limits.units[k] < target.units[k] ? 1 : 0;
      if (file == ir::RegFile::R && bound[k] == c.limits.units[k]) ++tight;
    }
    impossible += fits ? 0 : 1;
  }
  std::sort(sizes.begin(), sizes.end());
  EXPECT_GE(sizes[kCases / 2], 120u);
  EXPECT_GE(std::count_if(sizes.begin(), sizes.end(), [](std::size_t n) { return n >= 1000; }), kCases / 10);
  EXPECT_LE(impossible, kCases * 5 / 100);
  EXPECT_GT(impossible, 0);
  EXPECT_GT(tight, kCases / 50);
  for (const int n : profile_count) EXPECT_GT(n, 0);
  for (const int n : file_limited) EXPECT_GT(n, 0);
}

TEST(StandardMix, CasesStandAlone) {
  const StandardCase a = standard_mix(7, 12), b = standard_mix(7, 12), other = standard_mix(7, 13);
  EXPECT_EQ(ir::print(a.program), ir::print(b.program));
  EXPECT_EQ(a.limits.units, b.limits.units);
  EXPECT_NE(ir::print(a.program), ir::print(other.program));
}

}  // namespace
}  // namespace regduel::generate
