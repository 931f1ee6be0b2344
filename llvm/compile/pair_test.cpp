// Pairs of MIR files (corpus/llvm/mir): patterns of bugs that were reported, each with the allocation that it should have been.
#include <filesystem>

#include <gtest/gtest.h>

#include "llvm/compile/compile.h"
#include "llvm/judge/judge_pair.h"

namespace regduel::llvm {
namespace {

namespace fs = std::filesystem;

std::string verdict(const Tools& tools, const fs::path& folder, const char* after) {
  const auto pair = read_pair(tools, (folder / "before.mir").string(), (folder / after).string(), {});
  if (!pair) return pair.error().message;
  const auto pairs = pair_dumps(pair->file, {"virtregrewriter"});
  if (pairs.size() != 1) return "no pair";
  const Verdict v = judge_pair(pair->file.tables, pairs[0]);
  return v.refusal ? v.refusal->kind + ": " + v.refusal->message : std::string(oracles::name(v.verdict));
}

TEST(Pair, ReportedBugsAreSeen) {
  const Tools tools = find_tools("");
  if (tools.regduel_llc.empty()) GTEST_SKIP() << "no regduel-llc";
  int patterns = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(REGDUEL_SOURCE_DIR) / "corpus/llvm/mir")) {
    if (!entry.is_directory()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++patterns;
    EXPECT_EQ(verdict(tools, entry.path(), "good.mir"), "pass");
    EXPECT_EQ(verdict(tools, entry.path(), "bad.mir"), "fail");
  }
  EXPECT_GE(patterns, 8);
}

TEST(Pair, FilesThatAreNoPairAreAnError) {
  const Tools tools = find_tools("");
  if (tools.regduel_llc.empty()) GTEST_SKIP() << "no regduel-llc";
  EXPECT_FALSE(read_pair(tools, "/nowhere.mir", "/nowhere.mir", {}));
}

}  // namespace
}  // namespace regduel::llvm
