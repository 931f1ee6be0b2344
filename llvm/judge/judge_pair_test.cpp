// Stored dumps of LLVM 19.1.7 (corpus/llvm/json), without LLVM: the name of a file says what the judges have to say of it.
#include "llvm/judge/judge_pair.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "base/io.h"

namespace regduel::llvm {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const fs::path kStored = fs::path(REGDUEL_SOURCE_DIR) / "corpus/llvm/json";

DumpFile stored(const fs::path& path) {
  auto file = read_dump_file(read_file(path.string()).value(), path.filename().string());
  EXPECT_TRUE(file) << to_string(file.error());
  return std::move(*file);
}

std::vector<Verdict> verdicts(const DumpFile& file) {
  std::vector<Verdict> list;
  for (const DumpPair& pair : pair_dumps(file, {"virtregrewriter", "stack-slot-coloring", "machine-cp"}))
    list.push_back(judge_pair(file.tables, pair, true));
  return list;
}

TEST(JudgePair, StoredDumpsAreJudgedAsTheirNamesSay) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kStored)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".json")) continue;
    SCOPED_TRACE(name);
    const std::vector<Verdict> list = verdicts(stored(entry.path()));
    ASSERT_FALSE(list.empty());
    ++count;
    bool fails = false;
    for (const Verdict& v : list) {
      EXPECT_FALSE(v.refusal) << v.function << ": " << v.refusal->kind << ": " << v.refusal->message;
      if (v.verdict == oracles::Verdict::Fail) fails = true;
      if (name.starts_with("pass_")) {
        EXPECT_EQ(v.verdict, oracles::Verdict::Pass) << v.function << " after " << v.pass << "\n"
                                                     << (v.findings.empty() ? v.reason : print(v.findings[0]));
      }
    }
    EXPECT_EQ(fails, name.starts_with("fail_"));
  }
  EXPECT_GE(count, 4);
}

TEST(JudgePair, AFindingSpeaksMir) {
  const std::vector<Verdict> list = verdicts(stored(kStored / "fail_asm_goto_fast.json"));
  std::string text;
  for (const Verdict& v : list)
    for (const MirFinding& f : v.findings) text += print(f);
  EXPECT_THAT(text, HasSubstr("in bb."));
  EXPECT_THAT(text, HasSubstr("$"));
  EXPECT_THAT(text, Not(HasSubstr("ACC")));
}

// Takes one instruction that the allocator inserted away at a time: every one that mattered has to be missed.
TEST(JudgePair, LostSpillCodeIsSeen) {
  const DumpFile good = stored(kStored / "pass_spills_greedy.json");
  int tried = 0, seen = 0;
  for (const DumpPair& pair : pair_dumps(good, {"virtregrewriter"}))
    for (std::size_t b = 0; b < pair.after->blocks.size(); ++b)
      for (std::size_t k = 0; k < pair.after->blocks[b].insts.size(); ++k) {
        const Inst& i = pair.after->blocks[b].insts[k];
        if (!i.is_new || (!i.stores_to && !i.loads_from)) continue;
        Dump damaged = *pair.after;
        damaged.blocks[b].insts.erase(damaged.blocks[b].insts.begin() + static_cast<std::ptrdiff_t>(k));
        const Verdict v = judge_pair(good.tables, {pair.before, &damaged});
        ++tried;
        seen += v.verdict == oracles::Verdict::Fail ? 1 : 0;
      }
  EXPECT_GE(tried, 10);
  EXPECT_EQ(seen, tried);
}

}  // namespace
}  // namespace regduel::llvm
