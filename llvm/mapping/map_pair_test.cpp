// Small pairs by hand, each with the RIR that it becomes and with what the judges say of it. Stored dumps of LLVM are in judge_pair_test.cpp.
#include "llvm/mapping/map_pair.h"

#include <gmock/gmock.h>

#include "llvm/judge/judge_pair.h"
#include "llvm/testing.h"

namespace regduel::llvm {
namespace {

using ::testing::HasSubstr;
using testing::inst;
using ::testing::Not;
using testing::Text;

DumpFile read(const Text& before, const Text& after) {
  auto file = read_dump_file(testing::file(before, after));
  EXPECT_TRUE(file) << to_string(file.error());
  return std::move(*file);
}

// "pass", "fail", or why it was refused.
std::string verdict(const Text& before, const Text& after) {
  const DumpFile file = read(before, after);
  const Verdict v = judge_pair(file.tables, {&file.dumps[0], &file.dumps[1]});
  return v.refusal ? v.refusal->kind + ": " + v.refusal->message : std::string(oracles::name(v.verdict));
}

RirPair mapped(const Text& before, const Text& after) {
  const DumpFile file = read(before, after);
  auto pair = map_pair(file.tables, file.dumps[0], file.dumps[1]);
  EXPECT_TRUE(pair) << pair.error().kind << ": " << pair.error().message;
  return std::move(*pair);
}

const std::string kCall = inst(20, "CALL", "cu", R"({"s": "g"}, {"m": 0})");
// %0 = copy of an argument, a call that destroys RAX and the vectors, a use of %0.
const Text kAcross{R"("GR64")", inst(1, "COPY", "y", R"({"v": 0, "d": true}, {"p": "RCX"})") + "," + kCall + "," +
                                    inst(3, "RET", "te", R"({"v": 0})")};
const std::string kSlot = R"({"fi": 0, "size": 8, "align": 8, "spill": true})";

TEST(MapPair, AValueThatStaysWhereItIsPasses) {
  EXPECT_EQ(verdict(kAcross, {"", kCall + "," + inst(3, "RET", "te", R"({"p": "RCX"})")}), "pass");
}

TEST(MapPair, AValueInARegisterThatACallDestroysFails) {
  const Text after{"", inst(1, "COPY", "y", R"({"p": "RAX", "d": true}, {"p": "RCX"})") + "," + kCall + "," +
                           inst(3, "RET", "te", R"({"p": "RAX"})")};
  EXPECT_EQ(verdict(kAcross, after), "fail");
}

const std::string kStore = inst(40, "MOVmr", "s", R"({"f": 0}, {"p": "RCX"})", R"("new": true, "st": 0)");
const std::string kLoad = inst(41, "MOVrm", "l", R"({"p": "RAX", "d": true}, {"f": 0})", R"("new": true, "ld": 0)");

TEST(MapPair, SpillCodeIsSpillsAndRefills) {
  const Text after{"", kStore + "," + kCall + "," + kLoad + "," + inst(3, "RET", "te", R"({"p": "RAX"})"), kSlot};
  EXPECT_EQ(verdict(kAcross, after), "pass");
  const RirPair pair = mapped(kAcross, after);
  EXPECT_THAT(pair.after, HasSubstr("spill ACC"));
  EXPECT_THAT(pair.after, HasSubstr("refill slot 0+0"));
  EXPECT_THAT(pair.after, HasSubstr("#1 copy !deleted"));
  EXPECT_EQ(pair.counts.spills, 1);
  EXPECT_EQ(pair.counts.registers.at("GR64"), 2);
}

TEST(MapPair, ALostStoreFails) {
  const Text after{"", kCall + "," + kLoad + "," + inst(3, "RET", "te", R"({"p": "RAX"})"), kSlot};
  EXPECT_EQ(verdict(kAcross, after), "fail");
}

TEST(MapPair, ACopyMayBecomeAStore) {
  const std::string store = inst(1, "MOVmr", "s", R"({"f": 0}, {"p": "RCX"})", R"("st": 0, "slot_of": 0)");
  EXPECT_EQ(verdict(kAcross, {"", store + "," + kCall + "," + kLoad + "," + inst(3, "RET", "te", R"({"p": "RAX"})"), kSlot}),
            "pass");
}

// %0 = ADD %0, %1 with %1 in memory.
const Text kAdd{R"("GR64", "GR64")", inst(1, "COPY", "y", R"({"v": 1, "d": true}, {"p": "RCX"})") + "," +
                                         inst(2, "LEA", "", R"({"v": 0, "d": true}, {"p": "RCX"})") + "," +
                                         inst(3, "ADDrr", "m", R"({"v": 0, "d": true, "tied": 1}, {"v": 0, "tied": 0}, {"v": 1})") +
                                         "," + inst(4, "RET", "te", R"({"v": 0})")};

TEST(MapPair, AFoldedOperandIsRefilledFirst) {
  const auto after = [](int home) {
    return Text{"",
                inst(40, "MOVmr", "s", R"({"f": 0}, {"p": "RCX"})", R"("new": true, "st": 0)") + "," +
                    inst(2, "LEA", "", R"({"p": "RAX", "d": true}, {"p": "RCX"})") + "," +
                    inst(3, "ADDrm", "ml", R"({"p": "RAX", "d": true, "tied": 1}, {"p": "RAX", "tied": 0}, {"f": 0})",
                         fmt::format(R"("slot_of": {})", home)) +
                    "," + inst(4, "RET", "te", R"({"p": "RAX"})"),
                kSlot};
  };
  EXPECT_EQ(verdict(kAdd, after(1)), "pass");
  EXPECT_EQ(mapped(kAdd, after(1)).counts.folds, 1);
  EXPECT_THAT(verdict(kAdd, after(-1)), HasSubstr("no vreg's home"));
}

// A constant that destroys the flags, used on both sides of a call.
const Text kConstant{
    R"("GR64")", inst(1, "MOV0", "r", R"({"v": 0, "d": true}, {"i": 5}, {"p": "EFLAGS", "d": true, "imp": true, "dead": true})") +
                     "," + inst(2, "USE", "u", R"({"v": 0})") + "," + kCall + "," + inst(3, "RET", "te", R"({"v": 0})")};

TEST(MapPair, ARematerialisationNamesItsDefinition) {
  const auto again = [](int value) {
    return inst(
        50, "MOV0", "r",
        fmt::format(R"({{"p": "RAX", "d": true}}, {{"i": {}}}, {{"p": "EFLAGS", "d": true, "imp": true, "dead": true}})", value),
        R"("new": true, "of": 0, "def": 1)");
  };
  const std::string first =
      inst(1, "MOV0", "r", R"({"p": "RAX", "d": true}, {"i": 5}, {"p": "EFLAGS", "d": true, "imp": true, "dead": true})") + "," +
      inst(2, "USE", "u", R"({"p": "RAX"})") + "," + kCall;
  const std::string last = inst(3, "RET", "te", R"({"p": "RAX"})");
  EXPECT_EQ(verdict(kConstant, {"", first + "," + again(5) + "," + last}), "pass");
  EXPECT_THAT(verdict(kConstant, {"", first + "," + again(6) + "," + last}), HasSubstr("inserted"));
}

TEST(MapPair, ARematerialisationDestroysWhatItsInstructionDestroys) {
  const std::string compare = inst(5, "CMP", "", R"({"v": 0}, {"i": 1}, {"p": "EFLAGS", "d": true, "imp": true})");
  const Text before{
      R"("GR64")", inst(1, "MOV0", "r", R"({"v": 0, "d": true}, {"i": 5}, {"p": "EFLAGS", "d": true, "imp": true, "dead": true})") +
                       "," + compare + "," + inst(6, "JUMP", "u", R"({"v": 0}, {"p": "EFLAGS", "imp": true})")};
  const std::string define =
      inst(1, "MOV0", "r", R"({"p": "RAX", "d": true}, {"i": 5}, {"p": "EFLAGS", "d": true, "imp": true, "dead": true})");
  const std::string now = inst(5, "CMP", "", R"({"p": "RAX"}, {"i": 1}, {"p": "EFLAGS", "d": true, "imp": true})");
  const std::string again =
      inst(50, "MOV0", "r", R"({"p": "RCX", "d": true}, {"i": 5}, {"p": "EFLAGS", "d": true, "imp": true, "dead": true})",
           R"("new": true, "of": 0, "def": 1)");
  const std::string jump = inst(6, "JUMP", "u", R"({"p": "RCX"}, {"p": "EFLAGS", "imp": true})");
  EXPECT_EQ(verdict(before, {"", define + "," + again + "," + now + "," + jump}), "pass");
  EXPECT_EQ(verdict(before, {"", define + "," + now + "," + again + "," + jump}), "fail");
}

TEST(MapPair, ACallPreservesHalfOfAVector) {
  const auto before = [](const char* cls) {
    return Text{fmt::format("\"{}\"", cls),
                inst(1, "DEF", "", R"({"v": 0, "d": true})") + "," + kCall + "," + inst(3, "RET", "te", R"({"v": 0})")};
  };
  const auto after = [](const char* reg) {
    return Text{"", inst(1, "DEF", "", fmt::format(R"({{"p": "{}", "d": true}})", reg)) + "," + kCall + "," +
                        inst(3, "RET", "te", fmt::format(R"({{"p": "{}"}})", reg))};
  };
  EXPECT_EQ(verdict(before("VR64"), after("D1")), "pass");
  EXPECT_EQ(verdict(before("VR"), after("V1")), "fail");
}

TEST(MapPair, AnUndefinedPartLeavesNothingOfTheRest) {
  const auto before = [](const char* undef) {
    return Text{R"("GR64")", inst(1, "DEF", "", R"({"v": 0, "d": true})") + "," +
                                 inst(0, "IMPLICIT_DEF", "", fmt::format(R"({{"v": 0, "d": true, "sub": "sub_8bit"{}}})", undef)) +
                                 "," + inst(3, "RET", "te", R"({"v": 0, "sub": "sub_32bit"})")};
  };
  const Text elsewhere{"", inst(1, "DEF", "", R"({"p": "RCX", "d": true})") + "," + inst(3, "RET", "te", R"({"p": "EAX"})")};
  EXPECT_EQ(verdict(before(R"(, "undef": true)"), elsewhere), "pass");
  EXPECT_EQ(verdict(before(""), elsewhere), "fail");
}

TEST(MapPair, ACallMayReturnAPartOfARegisterThatItDestroys) {
  const std::string call = inst(20, "CALL", "cu", R"({"s": "g"}, {"m": 0}, {"p": "AL", "d": true, "imp": true})");
  const Text before{R"("GR8")", call + "," + inst(2, "COPY", "y", R"({"v": 0, "d": true}, {"p": "AL"})") + "," +
                                    inst(3, "RET", "te", R"({"v": 0})")};
  EXPECT_EQ(verdict(before, {"", call + "," + inst(3, "RET", "te", R"({"p": "AL"})")}), "pass");
  EXPECT_EQ(verdict(before, {"", call + "," + inst(3, "RET", "te", R"({"p": "CL"})")}), "fail");
}

TEST(MapPair, RefusesWhatItCannotCarry) {
  const Text narrow{R"("GR8")", inst(1, "DEF", "", R"({"v": 0, "d": true})") + "," + inst(3, "RET", "te", R"({"v": 0})")};
  EXPECT_EQ(verdict(narrow, {"", inst(1, "DEF", "", R"({"p": "CL", "d": true})") + "," + inst(3, "RET", "te", R"({"p": "CL"})")}),
            "pass");
  EXPECT_THAT(verdict(narrow, {"", inst(1, "DEF", "", R"({"p": "CH", "d": true})") + "," + inst(3, "RET", "te", R"({"p": "CH"})")}),
              HasSubstr("upper-part"));
  EXPECT_THAT(verdict(narrow, {"", inst(3, "RET", "te", R"({"p": "CL"})")}), HasSubstr("deleted"));
  EXPECT_THAT(verdict(narrow, {"", inst(1, "DEF", "", R"({"p": "CL", "d": true})") + "," +
                                       inst(9, "MYSTERY", "", R"({"p": "CL", "d": true})", R"("new": true)") + "," +
                                       inst(3, "RET", "te", R"({"p": "CL"})")}),
              HasSubstr("inserted"));
}

// %0 feeds %1, which nothing reads.
TEST(MapPair, WhatNothingReadsMayBeDeleted) {
  const auto before = [](const char* last) {
    return Text{R"("GR64", "GR64")", inst(1, "DEF", "", R"({"v": 0, "d": true})") + "," +
                                         inst(2, "ADD", "", R"({"v": 1, "d": true}, {"v": 0})") + "," + inst(3, "RET", "te", last)};
  };
  const Text after{"", inst(3, "RET", "te", R"({"p": "RCX"})")};
  EXPECT_EQ(verdict(before(R"({"p": "RCX"})"), after), "pass");
  EXPECT_EQ(mapped(before(R"({"p": "RCX"})"), after).counts.dead, 2);
  EXPECT_THAT(verdict(before(R"({"v": 1})"), after), HasSubstr("deleted"));
  // An instruction with an effect is no dead definition.
  const Text call{R"("GR64")", inst(1, "LOAD", "lo", R"({"v": 0, "d": true})") + "," + inst(3, "RET", "te", R"({"p": "RCX"})")};
  EXPECT_EQ(verdict(call, after), "fail");
}

// A vector is copied with all lanes on: the mask is in RAX meanwhile.
TEST(MapPair, AWholeWaveCopyDestroysWhereTheMaskIsKept) {
  const Text before{R"("VR")",
                    inst(1, "DEF", "", R"({"v": 0, "d": true})") + "," + inst(3, "RET", "te", R"({"v": 0}, {"p": "RCX"})")};
  const auto after = [](const char* mask, const char* back, const char* between) {
    const auto operand = [](const char* p, const char* more) { return fmt::format(R"({{"p": "{}"{}}})", p, more); };
    return Text{"", inst(1, "DEF", "", R"({"p": "V0", "d": true})") + "," +
                        inst(0, "S_OR_SAVEEXEC_B64", "uo",
                             operand(mask, R"(, "d": true)") + R"(, {"i": -1}, {"p": "EXEC", "d": true, "imp": true})") +
                        "," + inst(7, "COPY", "y", R"({"p": "V1", "d": true}, {"p": "V0"})", R"("new": true)") + between + "," +
                        inst(0, "S_MOV_B64", "", R"({"p": "EXEC", "d": true}, )" + operand(back, "")) + "," +
                        inst(3, "RET", "te", R"({"p": "V1"}, {"p": "RCX"})")};
  };
  EXPECT_EQ(verdict(before, after("RAX", "RAX", "")), "pass");
  EXPECT_EQ(verdict(before, after("RCX", "RCX", "")), "fail");
  EXPECT_THAT(verdict(before, after("RAX", "RDX", "")), HasSubstr("mask"));
  const std::string other = "," + inst(8, "COPY", "y", R"({"p": "RAX", "d": true}, {"p": "RCX"})", R"("new": true)");
  EXPECT_THAT(verdict(before, after("RAX", "RAX", other.c_str())), HasSubstr("mask"));
}

TEST(MapPair, AStoreThatWasDeletedIsAFinding) {
  const Text before{R"("GR64")", inst(1, "DEF", "", R"({"v": 0, "d": true})") + "," + inst(2, "STORE", "su", R"({"v": 0})") + "," +
                                     inst(3, "RET", "te", R"({"v": 0})")};
  EXPECT_EQ(verdict(before, {"", inst(1, "DEF", "", R"({"p": "RAX", "d": true})") + "," + inst(3, "RET", "te", R"({"p": "RAX"})")}),
            "fail");
}

TEST(MapPair, ALaneWithoutAValueIsNotRead) {
  const auto before = [](const char* undefined) {
    return Text{R"("VV", "VR")", inst(1, "DEF2", "", R"({"v": 0, "d": true})") + "," +
                                     inst(2, "DEF", "", R"({"v": 1, "d": true})") + "," +
                                     inst(3, "USE", "u", fmt::format(R"({{"v": 0{}}}, {{"v": 1}})", undefined))};
  };
  const Text after{"", inst(1, "DEF2", "", R"({"p": "V0_V1", "d": true})") + "," + inst(2, "DEF", "", R"({"p": "V1", "d": true})") +
                           "," + inst(3, "USE", "u", R"({"p": "V0_V1"}, {"p": "V1"})")};
  EXPECT_EQ(verdict(before(R"(, "undef_pieces": [1])"), after), "pass");
  EXPECT_EQ(verdict(before(""), after), "fail");
}

// Copy propagation deletes the second of two equal copies, whatever the widths of what they were made for.
TEST(MapPair, NarrowCopiesMoveThePartThatTheyMove) {
  const Text before{R"("GR64", "GR8")", inst(1, "COPY", "y", R"({"v": 0, "d": true}, {"p": "RCX"})") + "," +
                                            inst(2, "COPY", "y", R"({"p": "AL", "d": true}, {"v": 0, "sub": "sub_8bit"})") + "," +
                                            inst(3, "USE", "u", R"({"p": "AL"})") + "," +
                                            inst(4, "COPY", "y", R"({"v": 1, "d": true}, {"v": 0, "sub": "sub_8bit"})") + "," +
                                            inst(5, "USE", "u", R"({"v": 1})")};
  EXPECT_EQ(verdict(before, {"", inst(2, "COPY", "y", R"({"p": "AL", "d": true}, {"p": "CL"})") + "," +
                                     inst(3, "USE", "u", R"({"p": "AL"})") + "," + inst(5, "USE", "u", R"({"p": "AL"})")}),
            "pass");
}

TEST(MapPair, ATupleIsALaneAnAtom) {
  const Text before{R"("VV")", inst(1, "DEF2", "", R"({"v": 0, "d": true})") + "," +
                                   inst(2, "USE", "u", R"({"v": 0, "sub": "v1"})") + "," +
                                   inst(3, "RET", "te", R"({"v": 0, "sub": "v0"})")};
  const auto after = [](const char* second) {
    return Text{"", inst(1, "DEF2", "", R"({"p": "V0_V1", "d": true})") + "," +
                        inst(2, "USE", "u", fmt::format(R"({{"p": "{}"}})", second)) + "," +
                        inst(3, "RET", "te", R"({"p": "V0"})")};
  };
  EXPECT_EQ(verdict(before, after("V1")), "pass");
  EXPECT_EQ(verdict(before, after("V0")), "fail");
}

}  // namespace
}  // namespace regduel::llvm
