// Spill code that moves fewer bits than are read later, and spill code that may.
#include "llvm/judge/width.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "base/io.h"
#include "llvm/mapping/map_pair.h"
#include "llvm/testing.h"

namespace regduel::llvm {
namespace {

using testing::inst;
using testing::Text;

std::vector<std::string> messages(const Text& before, const Text& after) {
  const auto file = read_dump_file(testing::file(before, after));
  EXPECT_TRUE(file) << to_string(file.error());
  std::vector<std::string> list;
  for (const MirFinding& f : judge_width(file->tables, file->dumps[0], file->dumps[1])) list.push_back(f.message);
  return list;
}

std::string memory(int num, const char* op, const char* access, int bytes, const std::string& ops, int vreg) {
  return fmt::format(R"({{"op": "{}", "num": {}, "new": true, "of": {}, "{}": 0, "mem": [{{"rw": "{}", "size": {}, "fi": 0}}], )"
                     R"("fl": "", "ops": [{}]}})",
                     op, num, vreg, access, access[0] == 's' ? "w" : "r", bytes, ops);
}
std::string store(int bytes, const char* reg) {
  return memory(40, "MOVmr", "st", bytes, fmt::format(R"({{"f": 0}}, {{"p": "{}"}})", reg), 0);
}
std::string load(int bytes, const char* reg) {
  return memory(41, "MOVrm", "ld", bytes, fmt::format(R"({{"p": "{}", "d": true}}, {{"f": 0}})", reg), 0);
}
std::string ret(const char* reg) { return inst(3, "RET", "te", fmt::format(R"({{"p": "{}"}})", reg)); }

const std::string kSlot = R"({"fi": 0, "size": 8, "align": 8, "spill": true})";
const std::string kCopy = inst(1, "COPY", "y", R"({"v": 0, "d": true}, {"p": "RCX"})");
const std::string kCall = inst(20, "CALL", "cu", R"({"s": "g"}, {"m": 0})");
// A value of 64 bits lives across a call, and is read whole.
const Text kWhole{R"("GR64")", kCopy + "," + kCall + "," + inst(3, "RET", "te", R"({"v": 0})")};
// The same, of which the low half is read.
const Text kLow{R"("GR64")", kCopy + "," + kCall + "," + inst(3, "RET", "te", R"({"v": 0, "sub": "sub_32bit"})")};

Text spilled(const std::string& st, const std::string& ld, const std::string& end) {
  return {"", st + "," + kCall + "," + ld + "," + end, kSlot};
}

TEST(Width, AllBitsThatAreReadAreMoved) {
  EXPECT_THAT(messages(kWhole, spilled(store(8, "RCX"), load(8, "RAX"), ret("RAX"))), ::testing::IsEmpty());
}

TEST(Width, ANarrowStoreIsSeen) {
  EXPECT_THAT(messages(kWhole, spilled(store(4, "ECX"), load(8, "RAX"), ret("RAX"))),
              ::testing::ElementsAre("32 bits are stored, of which 64 are read later"));
}

TEST(Width, ANarrowLoadIsSeen) {
  EXPECT_THAT(messages(kWhole, spilled(store(8, "RCX"), load(4, "EAX"), ret("RAX"))),
              ::testing::ElementsAre("32 bits of %0 are moved, of which 64 are read later"));
}

TEST(Width, ANarrowCopyIsSeen) {
  const std::string copy =
      R"({"op": "COPY", "num": 42, "new": true, "of": 0, "fl": "y", "ops": [{"p": "EDX", "d": true}, {"p": "EAX"}]})";
  const Text after{"", store(8, "RCX") + "," + kCall + "," + load(8, "RAX") + "," + copy + "," + ret("RDX"), kSlot};
  EXPECT_THAT(messages(kWhole, after), ::testing::ElementsAre("32 bits of %0 are moved, of which 64 are read later"));
}

TEST(Width, BitsThatNobodyReadsNeedNotBeMoved) {
  EXPECT_THAT(messages(kLow, spilled(store(4, "ECX"), load(4, "EAX"), ret("EAX"))), ::testing::IsEmpty());
}

TEST(Width, AWideReadBehindALoopIsSeenInIt) {
  const auto block = [](int n, const char* successors, const std::string& insts) {
    return fmt::format(R"({{"n": {}, "succ": [{}], "livein": [], "insts": [{}]}})", n, successors, insts);
  };
  const auto file = [&](const std::string& st) {
    const auto dump = [](const char* stage, const char* vregs, const char* stack, const std::string& blocks) {
      return fmt::format(R"({{"stage": "{}", "pass": "greedy", "allocator": "greedy", "run": 0, "function": "f", )"
                         R"("subreg_liveness": false, "reserved": [], "vregs": [{}], "stack": [{}], "blocks": [{}]}})",
                         stage, vregs, stack, blocks);
    };
    return "{\"regduel_llvm\": 1, \"llvm\": \"19\", \"triple\": \"toy\", \"cpu\": \"\"}\n" +
           dump("before", R"("GR64")", "",
                block(0, "1", kCopy) + "," + block(1, "1, 2", kCall) + "," + block(2, "", inst(3, "RET", "te", R"({"v": 0})"))) +
           "\n" +
           dump("after", "\"\"", kSlot.c_str(),
                block(0, "1", st) + "," + block(1, "1, 2", kCall) + "," + block(2, "", load(8, "RAX") + "," + ret("RAX"))) +
           "\n" + testing::tables() + "\n";
  };
  for (const auto& [bytes, wanted] : {std::pair(8, 0), std::pair(4, 1)}) {
    const auto read = read_dump_file(file(store(bytes, bytes == 8 ? "RCX" : "ECX")));
    ASSERT_TRUE(read) << to_string(read.error());
    EXPECT_EQ(std::ssize(judge_width(read->tables, read->dumps[0], read->dumps[1])), wanted) << bytes;
  }
}

TEST(Width, AFoldedAccessBeyondTheSlotsValueIsSeen) {
  const Text before{R"("GR32", "GR64")", inst(1, "COPY", "y", R"({"v": 0, "d": true}, {"p": "ECX"})") + "," + kCall + "," +
                                             inst(2, "MOVSX", "", R"({"v": 1, "d": true}, {"v": 0})") + "," +
                                             inst(3, "RET", "te", R"({"v": 1})")};
  const auto after = [](int bytes) {
    return Text{"",
                store(4, "ECX") + "," + kCall + "," +
                    fmt::format(R"({{"op": "MOVSXm", "num": 2, "slot_of": 0, "mem": [{{"rw": "r", "size": {}, "fi": 0}}], )"
                                R"("fl": "l", "ops": [{{"p": "RAX", "d": true}}, {{"f": 0}}]}},)",
                                bytes) +
                    ret("RAX"),
                kSlot};
  };
  EXPECT_THAT(messages(before, after(4)), ::testing::IsEmpty());
  EXPECT_THAT(messages(before, after(8)), ::testing::ElementsAre("64 bits are accessed in the slot of %0, which has 32"));
}

// Real allocations: each spill and refill of more than four bytes in turn moves half as many.
TEST(Width, HalvedSpillCodeOfRealProgramsIsSeenWhereItIsRead) {
  namespace fs = std::filesystem;
  int tried = 0, seen = 0;
  for (const char* name : {"pass_spills_greedy.json", "pass_vectors_aarch64.json", "pass_calls_basic.json"}) {
    const auto file = read_dump_file(read_file((fs::path(REGDUEL_SOURCE_DIR) / "corpus/llvm/json" / name).string()).value());
    ASSERT_TRUE(file);
    for (const DumpPair& pair : pair_dumps(*file, {"virtregrewriter"})) {
      EXPECT_THAT(judge_width(file->tables, *pair.before, *pair.after), ::testing::IsEmpty()) << name;
      Dump damaged = *pair.after;
      for (Block& b : damaged.blocks)
        for (Inst& i : b.insts) {
          if (!i.is_new || (!i.stores_to && !i.loads_from) || i.memory_bytes.empty() || i.memory_bytes[0] < 8) continue;
          i.memory_bytes[0] /= 2;
          ++tried;
          seen += judge_width(file->tables, *pair.before, damaged).empty() ? 0 : 1;
          i.memory_bytes[0] *= 2;
        }
    }
  }
  EXPECT_GE(tried, 20);
  EXPECT_EQ(seen, tried);
}

}  // namespace
}  // namespace regduel::llvm
