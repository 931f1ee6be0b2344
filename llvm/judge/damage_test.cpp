#include "llvm/judge/damage.h"

#include <gtest/gtest.h>

#include "base/io.h"

namespace regduel::llvm {
namespace {

Damage damaged(const char* name) {
  const std::string path = std::string(REGDUEL_SOURCE_DIR) + "/corpus/llvm/json/" + name;
  const auto file = read_dump_file(read_file(path).value(), name);
  EXPECT_TRUE(file) << to_string(file.error());
  Damage sum;
  std::uint64_t seed = 0;
  for (const DumpPair& pair : pair_dumps(*file, {"virtregrewriter", "machine-cp"})) {
    const Verdict v = judge_pair(file->tables, pair, true);
    EXPECT_EQ(v.verdict, oracles::Verdict::Pass) << v.function;
    sum.add(damage(v, seed++, 12));
  }
  return sum;
}

TEST(Damage, EachChangeOfBehaviourIsSeenByAStaticJudge) {
  for (const char* name : {"pass_spills_greedy.json", "pass_calls_basic.json", "pass_loop_gfx90a.json"}) {
    SCOPED_TRACE(name);
    const Damage d = damaged(name);
    EXPECT_GE(d.changing, 5);
    EXPECT_EQ(d.caught, d.changing);
    EXPECT_TRUE(d.escaped.empty()) << d.escaped[0].fault << "\n" << d.escaped[0].after;
  }
}

TEST(Damage, TheSameSeedDoesTheSameDamage) {
  const Damage a = damaged("pass_spills_greedy.json"), b = damaged("pass_spills_greedy.json");
  EXPECT_EQ(a.injected, b.injected);
  EXPECT_EQ(a.changing, b.changing);
}

}  // namespace
}  // namespace regduel::llvm
