// Which uniform registers are known to hold what is the same in all threads.

#include "oracles/uniform/contents.h"

#include "oracles/testing.h"
#include "oracles/uniform/escapes.h"
#include "oracles/uniform/undefined_reads.h"

namespace regduel::oracles::uniform {
namespace {

// Whether the uniform register that instruction 99 reads has a content.
bool has_content(const std::string& body) {
  const std::string vregs = R"(
  vreg %0..%2 UR b32
  vreg %3 R b32
  vreg %4 P pred
  vreg %5 UP pred
)";
  testing::Pair p = {testing::side_by_side(vregs + body)};
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  const Case c(before, after, *ir::find_target(before.target), testing::limits_of(before, 255));
  const std::vector<char> declared = declared_vregs(before);
  const Cells cells(after);
  const ir::Cfg cfg(after);
  const std::vector<char> undefined = undefined_reads(c.prepared, declared, std::vector<char>(before.insts.size(), 1));
  const std::vector<char> found = reads_of_contents(c, cells, cfg, declared, undefined);
  for (const ir::Inst& i : after.insts)
    if (i.id == ir::InstId(99))
      for (const ir::Operand& op : after.operands_of(i))
        if (op.is_preg() && op.reads() && ir::is_uniform(op.preg().file))
          return found[static_cast<std::size_t>(&op - after.operands.data())] != 0;
  ADD_FAILURE() << "nothing reads a uniform register";
  return false;
}

TEST(Contents, ADefGivesItsVregAndMovesCarryIt) {
  const std::string body = R"(
  block b0
    #0 %0 = a            | UR0 = a
    +10                  | spill UR0, slot 0
    +11                  | UR1 = refill slot 0
    +99                  | R1 = copy UR1
    #1 use %0 !write     | use UR0 !write
    #2 exit
)";
  EXPECT_TRUE(has_content(body));
  EXPECT_FALSE(
      has_content(testing::edit(body, "+11                  | UR1 = refill slot 0", "+11                  | UR1 = copy R7")));
  EXPECT_FALSE(has_content(testing::edit(body, "    +11", "    +12                  | spill R9, slot 0\n    +11")));
  EXPECT_FALSE(has_content(testing::edit(body, "+10                  | spill UR0", "+10                  | spill UR0.lo")));
  // A new def of the vreg leaves behind what is its old value.
  EXPECT_FALSE(has_content(testing::edit(body, "    +99", "    #3 %0 = c            | UR0 = c\n    +99")));
  const std::string copied =
      testing::edit(body, "+11                  | UR1 = refill slot 0", "+11                  | UR1 = copy UR0");
  EXPECT_TRUE(has_content(copied));
  EXPECT_FALSE(has_content(testing::edit(copied, "    +99", "    +12                  | UR1 = copy R7\n    +99")));
}

// Behind #2 UR0 holds %1, in a block that is not the first.
TEST(Contents, TwoVregsThatChangePlacesDoSoOnce) {
  const std::string body = R"(
  block b0
    #0 %0, %1 = a        | UR0, UR1 = a
    #1 bra -> b1
  block b1
    #2 %0, %1 = copy %1, %0 | copy !deleted
    #3 %1 = b            | UR2 = b
    +99                  | R1 = copy UR0
    #4 use %0, %1 !write | use UR1, UR2 !write
    #5 exit
)";
  EXPECT_FALSE(has_content(body));
  EXPECT_TRUE(has_content(testing::edit(body, "R1 = copy UR0", "R1 = copy UR1")));
}

TEST(Contents, AGuardedDefKeepsWhatIsThere) {
  const std::string body = R"(
  block b0
    #0 %0 = a            | UR0 = a
    #1 @%4 %0 = b        | @P0 UR0 = b
    +99                  | R1 = copy UR0
    #3 exit
)";
  EXPECT_TRUE(has_content(body));
  EXPECT_FALSE(has_content(testing::edit(body, "#1 @%4 %0", "#1 @%4 %1")));
  EXPECT_FALSE(has_content(testing::edit(body, "    #0 %0 = a            | UR0 = a\n", "")));
}

TEST(Contents, BitsOfPacks) {
  const std::string body = R"(
  block b0
    #0 %5 = a            | UP0 = a
    +10                  | R3{inout} = bit_spill UP0, 4
    +11                  | UP1 = bit_refill R3, 4
    +99                  | R4{inout} = bit_spill UP1, 0
    #3 exit
)";
  EXPECT_TRUE(has_content(body));
  EXPECT_FALSE(has_content(testing::edit(body, "bit_refill R3, 4", "bit_refill R3, 5")));
  EXPECT_FALSE(has_content(testing::edit(body, "    +11", "    +12                  | R3 = copy R9\n    +11")));
  EXPECT_FALSE(has_content(testing::edit(body, "    +11", "    +12                  | R3{inout} = bit_spill P2, 4\n    +11")));
}

TEST(Contents, MeetWherePathsDo) {
  const std::string body = R"(
  block b0
    #0 %0 = a            | UR0 = a
    #1 %4 = b            | P0 = b
    #2 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %0 = a            | UR0 = a
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    +99                  | R1 = copy UR0
    #6 use %0 !write     | use UR0 !write
    #7 exit
)";
  // One vreg on both ways: its value there.
  EXPECT_TRUE(has_content(body));
  EXPECT_FALSE(has_content(testing::edit(body, "#3 %0", "#3 %1")));
}

TEST(Contents, MeetByByte) {
  const std::string body = R"(
  block b0
    #0 %0 = a            | UR0 = a
    #1 %4 = b            | P0 = b
    #2 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    +10                  | spill UR0, slot 0
    #4 bra -> b3
  block b2
    +11                  | spill UR0, slot 0
    #5 bra -> b3
  block b3
    +12                  | UR1 = refill slot 0
    +99                  | R1 = copy UR1
    #7 exit
)";
  EXPECT_TRUE(has_content(body));
  EXPECT_FALSE(has_content(testing::edit(body, "+10                  | spill UR0", "+10                  | spill UR0.lo")));
  EXPECT_FALSE(has_content(testing::edit(body, "+11                  | spill UR0", "+11                  | spill UR0.lo")));
}

TEST(Contents, NothingIsKnownWhereTheFunctionBegins) {
  EXPECT_FALSE(has_content(R"(
  block b0
    +99                  | R1 = copy UR0
    #0 %0 = a            | UR0 = a
    #1 %4 = b            | P0 = b
    #2 cbra %4 -> b0, b1 | cbra P0 -> b0, b1
  block b1
    #3 exit
)"));
}

// The phi gives %1 another value on the one edge only.
TEST(Contents, AnEdgeRenamesByItsOwnPhis) {
  EXPECT_TRUE(has_content(R"(
  block b0
    #0 %1 = a            | UR0 = a
    #1 %4 = b            | P0 = b
    #2 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %1 = phi b0: %0   | phi !deleted
    #4 exit
  block b2
    +99                  | R1 = copy UR0
    #5 exit
)"));
}

// On the one way what the register holds is the constant, too.
TEST(Contents, WhatACopyBringsAndItsDefAreBothThere) {
  const std::string body = R"(
  block b0
    #0 %3 = const 7      | R0 = const 7
    #1 %4 = b            | P0 = b
    #2 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %0 = copy %3      | UR0 = copy R0
    #4 bra -> b3
  block b2
    #5 %0 = a            | UR0 = a
    #6 bra -> b3
  block b3
    +99                  | R1 = copy UR0
    #7 exit
)";
  EXPECT_TRUE(has_content(body));
  EXPECT_FALSE(has_content(testing::edit(body, "#5 %0", "#5 %1")));
}

TEST(Contents, PhisAndCopiesRename) {
  const std::string phi = R"(
  block b0
    #0 %0 = a            | UR0 = a
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0, b1: %2 | phi !deleted
    +99                  | R1 = copy UR0
    #3 %2 = c %1         | UR0 = c UR0
    #4 %4 = b            | P0 = b
    #5 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    #6 exit
)";
  EXPECT_TRUE(has_content(phi));
  EXPECT_FALSE(has_content(testing::edit(phi, "b1: %2 |", "b1: %1 |")));
  // %0 gets another value, but UR0 holds that of %1 now.
  const std::string copy = R"(
  block b0
    #0 %0 = a            | UR0 = a
    #1 %1 = copy %0      | copy !deleted
    #2 %0 = b            | UR1 = b
    +99                  | R1 = copy UR0
    #3 exit
)";
  EXPECT_TRUE(has_content(copy));
  EXPECT_FALSE(has_content(testing::edit(copy, "#1 %1 = copy %0", "#1 %1 = copy %2")));
  EXPECT_FALSE(has_content(testing::edit(copy, "    +99", "    #4 %1 = c            | UR2 = c\n    +99")));
}

TEST(Contents, WhatTheProgramCopiesIntoAUniformRegisterIfItIsDefined) {
  const std::string body = R"(
  block b0
    #0 %3 = a            | R0 = a
    #1 %0 = copy %3      | UR0 = copy R0
    +99                  | R1 = copy UR0
    #2 exit
)";
  EXPECT_TRUE(has_content(body));
  EXPECT_FALSE(has_content(testing::edit(body, "    #0 %3 = a            | R0 = a\n", "")));
}

TEST(Contents, ConstantsAndTheirRemats) {
  const std::string body = R"(
  block b0
    #0 %3 = const 7 !remat | R0 = const 7 !remat
    +10                    | UR2 = remat #0 7
    +99                    | R1 = copy UR2
    #2 exit
)";
  EXPECT_TRUE(has_content(body));
  EXPECT_FALSE(
      has_content(testing::edit(body, "#0 %3 = const 7 !remat | R0 = const 7 !remat", "#0 %3 = a 7 !remat     | R0 = a 7 !remat")));
}

}  // namespace
}  // namespace regduel::oracles::uniform
