#include "targets/seeds.h"

#include <set>

#include <gtest/gtest.h>

#include "duel/case.h"
#include "ir/ptx/ptx.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"
#include "targets/targets.h"

namespace regduel::targets {
namespace {

class SeedsOf : public testing::TestWithParam<std::string> {};

// Every seed is a valid input of its target: none is a waste.
TEST_P(SeedsOf, AreWhatTheTargetReads) {
  const std::string target = GetParam();
  const auto seeds = seeds_of(target, REGDUEL_SOURCE_DIR);
  ASSERT_TRUE(seeds.has_value()) << seeds.error();
  EXPECT_GE(seeds->size(), 20u);
  const FuzzTarget* const known = find_fuzz_target(target);
  std::set<std::string> names;
  for (const Seed& s : *seeds) {
    SCOPED_TRACE(s.name);
    EXPECT_TRUE(names.insert(s.name).second);
    EXPECT_EQ(s.name.find_first_of("/ \n"), std::string::npos);
    EXPECT_LE(s.bytes.size(), kMostSeedBytes);
    const std::string_view text(reinterpret_cast<const char*>(s.bytes.data()), s.bytes.size());
    if (target == "rir_text") {
      EXPECT_TRUE(ir::parse(text).has_value());
    } else if (target == "rir_binary") {
      EXPECT_TRUE(ir::decode(s.bytes).has_value());
    } else if (target == "ptx") {
      EXPECT_TRUE(ir::parse_ptx(text).has_value());
    } else if (known != nullptr) {
      EXPECT_TRUE(known->is_structured);
      EXPECT_EQ(duel::encode_case(duel::decode_case(s.bytes)), s.bytes);
    } else {
      EXPECT_EQ(text.find(' '), std::string_view::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SeedsOf, testing::ValuesIn(seeded_targets()), [](const auto& param) { return param.param; });

TEST(Seeds, SayWhichFileIsMissing) {
  const auto seeds = seeds_of("cli_args", "/nowhere");
  ASSERT_FALSE(seeds.has_value());
  EXPECT_NE(seeds.error().find("/nowhere/README.md"), std::string::npos) << seeds.error();
}

}  // namespace
}  // namespace regduel::targets
