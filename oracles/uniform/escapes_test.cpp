// The quick test: where it says no, nothing that a warp shares reaches what may vary.

#include "oracles/uniform/escapes.h"

#include "oracles/testing.h"

namespace regduel::oracles::uniform {
namespace {

bool escapes(const std::string& body, const std::string& kind = "kernel") {
  const std::string vregs = R"(
  vreg %0..%2 R b32
  vreg %3 UR b32
  vreg %4 R b32 uniform
  vreg %5 R b32 alias %4
  vreg %6 P pred
  block b0
)";
  testing::Pair p = {testing::side_by_side(vregs + body)};
  p.kind = kind;
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  const Case c(before, after, *ir::find_target(before.target), testing::limits_of(before, 255));
  return find_escapes(c, declared_vregs(before)).any;
}

TEST(Escapes, FromAUniformRegisterByMovesIntoAnOperandThatVaries) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    +9                   | UR0 = copy R0
    +10                  | spill UR0, slot 0
    +11                  | R1 = refill slot 0
    +12                  | R2 = copy R1
    #2 use %0 !write     | use R0 !write
    #3 exit
)";
  EXPECT_FALSE(escapes(body));
  EXPECT_TRUE(escapes(testing::edit(body, "use R0", "use R2")));
  // The vreg is marked, or an alias of it is.
  EXPECT_FALSE(escapes(testing::edit(body, "use %0 !write     | use R0", "use %5 !write     | use R2")));
  // What was moved there has been overwritten.
  const std::string read = testing::edit(body, "use R0", "use R2");
  EXPECT_FALSE(escapes(testing::edit(read, "    #2 use", "    +13                  | R2 = copy R0\n    #2 use")));
  EXPECT_FALSE(escapes(testing::edit(
      read, "    +12 ", "    +13                  | spill R0, slot 0\n    +14                  | R1 = refill slot 0\n    +12 ")));
  EXPECT_FALSE(escapes(testing::edit(read, "    #2 use", "    #4 %0 = b            | R2 = b\n    #2 use")));
  EXPECT_TRUE(escapes(testing::edit(read, "    #2 use", "    #4 @%6 %0 = b        | @P0 R2 = b\n    #2 use")));
  // A move behind it moves what it names, and no more.
  EXPECT_FALSE(escapes(
      testing::edit(read, "    #2 use", "    #4 %0 = b            | R2 = b\n    +13                  | R5 = copy R0\n    #2 use")));
}

TEST(Escapes, AReadOfAUniformRegisterAsWhatMayVary) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    +9                   | UR0 = copy R0
    #2 use %0 !write     | use UR0 !write
    #3 exit
)";
  EXPECT_TRUE(escapes(body));
  const std::string declared = testing::edit(body, "use %0 !write", "use %3 !write");
  EXPECT_FALSE(escapes(declared));
  // Where others may have written there, it counts who reads it.
  EXPECT_TRUE(escapes(testing::edit(declared, "    #2 use", "    +10                  | @P0 UR0 = copy R0\n    #2 use")));
  EXPECT_TRUE(escapes(testing::edit(declared, "    #2 use", "    +10                  | @P0 UR1 = copy R0\n    #2 use")));
  EXPECT_FALSE(escapes(testing::edit(declared, "    #2 use", "    +10                  | @P0 R1 = copy R0\n    #2 use")));
}

TEST(Escapes, ByBitsOfPacks) {
  const std::string body = R"(
    #0 %6 = a            | P0 = a
    +9                   | R3 = copy R4
    +10                  | UP0 = bit_refill R3, 7
    +11                  | R3{inout} = bit_spill UP0, 2
    +12                  | R3{inout} = bit_spill P0, 3
    +13                  | P1 = bit_refill R3, 3
    #2 use %6 !write     | use P1 !write
    #3 exit
)";
  EXPECT_FALSE(escapes(body));
  const std::string from_uniform = testing::edit(body, "bit_refill R3, 3", "bit_refill R3, 2");
  EXPECT_TRUE(escapes(from_uniform));
  EXPECT_FALSE(escapes(testing::edit(from_uniform, "bit_spill P0, 3", "bit_spill P0, 2")));
  EXPECT_TRUE(escapes(testing::edit(from_uniform, "+12                  | R3{inout} = bit_spill P0, 3",
                                    "+12                  | @P0 R3{inout} = bit_spill P0, 2")));
  EXPECT_FALSE(escapes(testing::edit(from_uniform, "    #2 use", "    +14                  | P1 = copy P0\n    #2 use")));
}

TEST(Escapes, NotWhatIsTheSameInAllThreads) {
  // The spilled content is %3, whatever reads it.
  EXPECT_FALSE(escapes(R"(
    #0 %3 = b            | UR0 = b
    +10                  | spill UR0, slot 0
    +11                  | R1 = refill slot 0
    #1 %0 = copy %3      | copy !deleted
    #2 use %0 !write     | use R1 !write
    #3 exit
)"));
  EXPECT_FALSE(escapes(R"(
    #0 %3 = b            | UR0 = b
    #1 %4 = copy %3      | R1 = copy UR0
    #2 use %4 !write     | use R1 !write
    #3 exit
)"));
}

TEST(Escapes, ByACopyOfTheProgramOnlyIfWhatItReadsMayBeUndefined) {
  // %3 is defined, so UR0 holds it, whatever was written there.
  const std::string body = R"(
    #0 %3 = b            | UR0 = b
    +9                   | UR0 = copy R7
    #1 %0 = copy %3      | R1 = copy UR0
    #2 use %0 !write     | use R1 !write
    #3 exit
)";
  EXPECT_FALSE(escapes(body));
  EXPECT_TRUE(escapes(testing::edit(body, "    #0 %3 = b            | UR0 = b\n", "")));
  EXPECT_TRUE(escapes(testing::edit(body, "#0 %3 = b            | UR0 = b", "#0 @%6 %3 = b       | @P0 UR0 = b")));
  // An inserted copy is none of the program.
  EXPECT_TRUE(escapes(testing::edit(body, "R1 = copy UR0", "copy !deleted\n    +10                  | R1 = copy UR0")));
}

TEST(Escapes, IntoWhatTheCallerKeeps) {
  const std::string body = R"(
    +10 | UR4 = copy R24
    #0 %0 = a | R24 = a
    #1 use %0 !write | use R24 !write
    +11 | R25 = copy UR4
    #2 ret
)";
  EXPECT_TRUE(escapes(body, "device"));
  EXPECT_FALSE(escapes(testing::edit(body, "R25 = copy UR4", "R2 = copy UR4"), "device"));
}

}  // namespace
}  // namespace regduel::oracles::uniform
