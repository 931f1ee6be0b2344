#include "llvm/mir/mir.h"

#include <gmock/gmock.h>

#include "llvm/testing.h"

namespace regduel::llvm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::inst;

const testing::Text kBefore{
    R"("GR64", "")",
    inst(1, "ADD", "m",
         R"({"v": 0, "d": true, "tied": 1}, {"p": "RCX", "kill": true}, {"p": "EFLAGS", "d": true, "imp": true, "dead": true})") +
        ", " + inst(2, "RET", "te", R"({"v": 0, "sub": "sub_32bit"}, {"i": 7}, {"p": ""})")};

TEST(Mir, ReadsWhatADumpSays) {
  const auto file = read_dump_file(testing::file(kBefore, kBefore), "f.json");
  ASSERT_TRUE(file) << to_string(file.error());
  ASSERT_EQ(file->dumps.size(), 2u);
  const Dump& d = file->dumps[0];
  EXPECT_TRUE(d.is_before);
  EXPECT_EQ(d.vregs[1], -1);
  ASSERT_EQ(d.blocks[0].insts.size(), 2u);
  const Inst& add = d.blocks[0].insts[0];
  EXPECT_EQ(add.num, 1);
  EXPECT_TRUE(add.has('m'));
  EXPECT_EQ(add.ops[0].tied, 1);
  EXPECT_EQ(file->tables.registers[add.ops[1].preg].name, "RCX");
  EXPECT_TRUE(add.ops[2].is_dead);
  EXPECT_EQ(print(add, d, file->tables), "%0:gr64 = ADD $rcx, implicit-def dead $eflags");
  EXPECT_EQ(print(d.blocks[0].insts[1], d, file->tables), "RET %0.sub_32bit, 7, $noreg");
}

TEST(Mir, KnowsThePiecesOfRegisters) {
  const auto file = read_dump_file(testing::file(kBefore, kBefore));
  ASSERT_TRUE(file);
  const Tables& t = file->tables;
  const int rax = t.register_index.at("RAX");
  EXPECT_THAT(t.registers[t.register_index.at("AH")].pieces, ElementsAre(Piece{rax, 8, 8}));
  EXPECT_THAT(t.registers[t.register_index.at("V0_V1")].pieces,
              ElementsAre(Piece{t.register_index.at("V0"), 0, 128}, Piece{t.register_index.at("V1"), 0, 128}));
}

TEST(Mir, SaysInWhichLineTheFormIsWrong) {
  const std::string good = testing::file(kBefore, kBefore);
  const auto error_of = [](const std::string& text) {
    const auto file = read_dump_file(text, "f.json");
    return file ? std::string("none") : to_string(file.error());
  };
  EXPECT_THAT(error_of(""), HasSubstr("f.json:1"));
  EXPECT_THAT(error_of("{}\n{}\n"), HasSubstr("regduel_llvm"));
  const auto damage = [&](const std::string& from, const std::string& to) {
    return std::string(good).replace(good.find(from), from.size(), to);
  };
  EXPECT_THAT(error_of(damage(R"("p": "RCX")", R"("p": "RSX")")), ::testing::AllOf(HasSubstr("f.json:2"), HasSubstr("RSX")));
  EXPECT_THAT(error_of(damage(R"("v": 0)", R"("v": 9)")), HasSubstr("no vreg 9"));
  EXPECT_THAT(error_of(damage(R"("tied": 1)", R"("tied": 8)")), HasSubstr("tied"));
  EXPECT_THAT(error_of(damage(R"("stage")", R"("stages")")), HasSubstr("f.json:2"));
  EXPECT_THAT(error_of(good.substr(0, good.size() - 9)), HasSubstr("f.json:4"));
}

}  // namespace
}  // namespace regduel::llvm
