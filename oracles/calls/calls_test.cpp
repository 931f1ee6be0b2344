// Files of several functions whose allocations do not go together, and such that do.

#include "oracles/calls/calls.h"

#include <fmt/format.h>

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The categories of all findings of a file; `before` has no registers, `after` has.
class Calls : public ::testing::Test {
 protected:
  std::vector<std::string> judged(const std::vector<testing::Programs>& functions, bool last_is_weak = false) {
    std::vector<ir::Function> before, after;
    for (const testing::Programs& p : functions) {
      before.push_back(testing::parse_function(p.before));
      after.push_back(testing::parse_function(p.after));
    }
    std::vector<FunctionOfFile> file;
    for (std::size_t k = 0; k < before.size(); ++k)
      file.push_back({&before[k], &after[k], ir::find_target("sm_90"), last_is_weak && k + 1 == before.size()});
    std::vector<std::string> found;
    for (const JudgeResult& r : judge_calls(file))
      for (const Finding& f : r.findings) found.push_back(f.category), message = f.message;
    return found;
  }
  std::string message;
};

testing::Programs function(const std::string& head, const std::string& body) {
  return testing::side_by_side("func @" + head + " target sm_90 threads 32 abi cuda\n" + body);
}
// It keeps a barrier register across a call.
testing::Programs caller(const std::string& clobbers) {
  return function("k kernel", R"(
  vreg %0 B b32
  vreg %1 B b32
  block b0
    #0 %0 = a                       | B0 = a
    #1 call "g" clobbers )" + clobbers +
                                  R"( | call "g" clobbers )" + clobbers + R"(
    #2 use %0                       | use B0
    #3 exit
)");
}
testing::Programs callee(const std::string& home, const std::string& rest = "") {
  return function("g device", R"(
  vreg %0 B b32
  block b0
)" + rest + R"(
    #0 %0 = b | )" + home + R"( = b
    #1 use %0 | use )" + home + R"(
    #2 ret
)");
}

TEST_F(Calls, WhatACalleeWritesIsListed) {
  EXPECT_THAT(judged({caller("R0"), callee("B0")}), ElementsAre("callee-clobber"));
  EXPECT_THAT(message, HasSubstr("@g writes B0"));
  EXPECT_THAT(judged({caller("R0, B0"), callee("B1")}), ElementsAre());
  EXPECT_THAT(judged({caller("R0"), callee("B1")}), ElementsAre());
}

// The body may be another one when the program runs, or there are two.
TEST_F(Calls, ABodyThatMayBeReplacedSaysNothing) {
  EXPECT_THAT(judged({caller("R0"), callee("B0")}, true), ElementsAre());
  EXPECT_THAT(judged({caller("R0"), callee("B0"), callee("B1")}), ElementsAre());
}

TEST_F(Calls, WritesOfCalleesOfCalleesCount) {
  const testing::Programs middle = function("g device", R"(
  block b0
    #0 call "h" clobbers R20:R21 | call "h" clobbers R20:R21
    #1 ret
)"),
                          last = function("h device", R"(
  vreg %0 B b32
  block b0
    #0 %0 = b | B0 = b
    #1 use %0 | use B0
    #2 call "g" clobbers R20:R21 | call "g" clobbers R20:R21
    #3 ret
)");
  EXPECT_THAT(judged({caller("R0"), middle, last}), ElementsAre("callee-clobber"));
}

// The call itself writes the return address, whatever the callee does.
TEST_F(Calls, TheReturnAddressIsWritten) {
  const auto keeps = [](const std::string& clobbers) {
    return function("k kernel", R"(
  vreg %0 R b32
  block b0
    #0 %0 = a                   | R20 = a
    #1 call "g" clobbers )" + clobbers +
                                    " | call \"g\" clobbers " + clobbers + R"(
    #2 use %0                   | use R20
    #3 exit
)");
  };
  EXPECT_THAT(judged({keeps("R0"), callee("B0")}), ElementsAre("callee-clobber"));
  EXPECT_THAT(judged({keeps("R0, R20:R21"), callee("B0")}), ElementsAre());  // symbolic objects
}

// What stands behind the call decides: in its block, and along loops.
TEST_F(Calls, AUnitIsLiveBehindTheCallUntilItIsWritten) {
  const auto keeps = [](const std::string& write) {
    return function("k kernel", R"(
  vreg %0 B b32
  vreg %1 P pred
  block b0
    #0 %0, %1 = a                   | B0, P0 = a
    #1 bra -> b1
  block b1
    #2 call "g" clobbers R20:R21    | call "g" clobbers R20:R21
    #3 cbra %1 -> b2, b3            | cbra P0 -> b2, b3
  block b2
)" + write + R"(
    #5 bra -> b4
  block b3
    #6 exit
  block b4
    #7 use %0                       | use B0
    #8 bra -> b1
)");
  };
  EXPECT_THAT(judged({keeps("#4 nop | nop"), callee("B0")}), ElementsAre("callee-clobber"));
  EXPECT_THAT(judged({keeps("#4 %0 = c | B0 = c"), callee("B0")}), ElementsAre());
}

TEST_F(Calls, WhatACalleePreservesComesBack) {
  const testing::Programs keeps = function("k kernel", R"(
  vreg %0 R b32
  block b0
    #0 %0 = a                    | R24 = a
    #1 call "g" clobbers R20:R21 | call "g" clobbers R20:R21
    #2 use %0                    | use R24
    #3 exit
)");
  const testing::Programs restores = function("g device", R"(
  vreg %0 R b32
  block b0
    +5        | R3 = copy R24
    #0 %0 = b | R24 = b
    #1 use %0 | use R24
    +6        | R24 = copy R3
    #2 ret
)");
  EXPECT_THAT(judged({keeps, restores}), ElementsAre());
}

// The only function of a name, with B0 as architectural register or without any.
testing::Programs with_b0(const std::string& head, bool is_architectural, const std::string& body) {
  return function(head, std::string(is_architectural ? "  vreg %0 B b32 fixed B0 architectural\n" : "  vreg %0 B b32\n") +
                            "  vreg %1 B b32\n  block b0\n" + body);
}
constexpr const char* kWritesB0 = R"(
    #0 %0 = a  | B0 = a
    #1 use %0  | use B0
    #2 ret
)";

// An architectural register is one for caller and callee, and what the callee does with it is meant.
TEST_F(Calls, AnArchitecturalRegisterOfBothMayChange) {
  const testing::Programs reads = with_b0("k kernel", true, R"(
    #0 call "g" clobbers R20:R21 | call "g" clobbers R20:R21
    #1 use %0                    | use B0
    #2 exit
)");
  EXPECT_THAT(judged({reads, with_b0("g device", true, kWritesB0)}), ElementsAre());
  const testing::Programs middle = function("g device", R"(
  block b0
    #0 call "h" clobbers R20:R21 | call "h" clobbers R20:R21
    #1 ret
)");
  EXPECT_THAT(judged({reads, middle, with_b0("h device", true, kWritesB0)}), ElementsAre());
}
TEST_F(Calls, AnArchitecturalRegisterOfOneIsAnyRegisterToTheOther) {
  const std::string keeps = R"(
    #0 %0 = b                    | B0 = b
    #1 call "g" clobbers R20:R21 | call "g" clobbers R20:R21
    #2 use %0                    | use B0
    #3 exit
)";
  for (const bool of_caller : {false, true})
    for (const bool of_callee : {false, true}) {
      const auto found = judged({with_b0("k kernel", of_caller, keeps), with_b0("g device", of_callee, kWritesB0)});
      EXPECT_EQ(found.empty(), of_caller && of_callee) << of_caller << of_callee;
      if (!found.empty()) {
        EXPECT_THAT(found, ElementsAre("callee-clobber"));
      }
    }
}
// The callee writes it as one of its own, and a function that it calls writes it as an architectural one.
TEST_F(Calls, AUnitMayBeMeantAndLost) {
  const testing::Programs reads = with_b0("k kernel", true, R"(
    #0 call "g" clobbers R20:R21 | call "g" clobbers R20:R21
    #1 use %0                    | use B0
    #2 exit
)");
  const std::string calls = R"(
    #0 call "h" clobbers R20:R21 | call "h" clobbers R20:R21
    #1 %0 = c                    | B0 = c
    #2 use %0                    | use B0
    #3 ret
)";
  EXPECT_THAT(judged({reads, with_b0("g device", false, calls), with_b0("h device", true, kWritesB0)}),
              ElementsAre("callee-clobber"));
}
// The program copies what the register held before the call.
TEST_F(Calls, AnArchitecturalRegisterIsNotCopiedAfterItHasChanged) {
  const std::string early = R"(
    #0 %1 = copy %0              | B1 = copy B0
    #1 call "g" clobbers R20:R21 | call "g" clobbers R20:R21
    #2 use %1                    | use B1
    #3 exit
)";
  const std::string late = R"(
    #0 %1 = copy %0              | copy !deleted
    #1 call "g" clobbers R20:R21 | call "g" clobbers R20:R21
    +9                           | B1 = copy B0
    #2 use %1                    | use B1
    #3 exit
)";
  const testing::Programs writes = with_b0("g device", true, kWritesB0);
  EXPECT_THAT(judged({with_b0("k kernel", true, early), writes}), ElementsAre());
  EXPECT_THAT(judged({with_b0("k kernel", true, late), writes}), ElementsAre("callee-clobber"));
  EXPECT_THAT(message, HasSubstr("what the register held before"));
  EXPECT_THAT(judged({with_b0("k kernel", true, late), callee("B2")}), ElementsAre());
}

// What the program before leaves undefined, and junk that is moved and not read, need no register.
TEST_F(Calls, WhatIsUndefinedNeedNotSurvive) {
  const auto reads = [](const std::string& body) {
    return function("k kernel", "  vreg %0 B b32\n  vreg %1 P pred\n  block b0\n" + body);
  };
  EXPECT_THAT(judged({reads(R"(
    #1 call "g" clobbers R20:R21    | call "g" clobbers R20:R21
    #2 use %0                       | use B0
    #3 exit
)"),
                      callee("B0")}),
              ElementsAre());
  EXPECT_THAT(judged({reads(R"(
    #0 %0 = a                       | B0 = a
    #1 call "g" clobbers R20:R21    | call "g" clobbers R20:R21
    +9                              | B1 = copy B0
    #3 exit
)"),
                      callee("B0")}),
              ElementsAre());
  const std::string one_way = R"(
    #0 %1 = a                       | P0 = a
    #1 cbra %1 -> b1, b2            | cbra P0 -> b1, b2
  block b1
    #2 %0 = a                       | B0 = a
    #3 bra -> b2
  block b2
    #4 call "g" clobbers R20:R21    | call "g" clobbers R20:R21
    #5 use %0                       | use B0
    #6 exit
)";
  EXPECT_THAT(judged({reads(one_way), callee("B0")}), ElementsAre("callee-clobber"));
}

// A guarded call destroys nothing where it does not happen.
TEST_F(Calls, AGuardedCallIsOneSideOfItsGuard) {
  const auto reads = [](const std::string& sense) {
    return function("k kernel", R"(
  vreg %0 B b32
  vreg %1 P pred
  block b0
    #0 %0, %1 = a                    | B0, P0 = a
    #1 @%1 call "g" clobbers R20:R21 | @P0 call "g" clobbers R20:R21
    #2 @)" + sense + "%1 use %0 | @" +
                                    sense + R"(P0 use B0
    #3 exit
)");
  };
  EXPECT_THAT(judged({reads("!"), callee("B0")}), ElementsAre());
  EXPECT_THAT(judged({reads(""), callee("B0")}), ElementsAre("callee-clobber"));
}

// Each call of a function is told by itself, and a register that was lost before stays lost.
TEST_F(Calls, EachCallHasItsFinding) {
  const testing::Programs twice = function("k kernel", R"(
  vreg %0..%1 B b32
  block b0
    #0 %0 = a                       | B0 = a
    #1 call "g" clobbers R20:R21    | call "g" clobbers R20:R21
    #2 use %0                       | use B0
    #3 %1 = a                       | B0 = a
    #4 call "g" clobbers R20:R21    | call "g" clobbers R20:R21
    #5 use %1                       | use B0
    #6 exit
)");
  EXPECT_THAT(judged({twice, callee("B0")}), ElementsAre("callee-clobber", "callee-clobber"));
}

// A callee of `abi seed` writes registers that a caller of `abi cuda` owes its own caller.
TEST_F(Calls, ACalleeOfAnotherAbiMayTakeWhatTheCallerOwes) {
  testing::Programs owes = function("k device", R"(
  block b0
    #0 call "g" clobbers R0 | call "g" clobbers R0
    #1 ret
)"),
                    takes = testing::side_by_side(R"(
func @g device target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = b | R40 = b
    #1 use %0 | use R40
    #2 ret
)");
  EXPECT_THAT(judged({owes, takes}), ElementsAre());
  takes.after = testing::edit(testing::edit(takes.after, "R40 = b", "R36 = b"), "use R40", "use R36");
  EXPECT_THAT(judged({owes, takes}), ElementsAre("callee-clobber"));
}

TEST_F(Calls, SharedSlotsOfCallerAndCalleeAreInOnePlace) {
  const auto spills = [](const std::string& head, const std::string& name, int offset) {
    return function(head, R"(
  frame local 0 shared 16
  vreg %0 R b32
  slot 0 shared size 4 align 4 offset )" +
                              std::to_string(offset) + R"(
  block b0
    #0 %0 = a          | R0 = a
    +9                 | spill R0, slot 0
    #1 call ")" + name + R"(" clobbers R0, R20:R21 | call ")" +
                              name + R"(" clobbers R0, R20:R21
    +10                | R0 = refill slot 0
    #2 use %0          | use R0
    #3 )" + (head.ends_with("kernel") ? "exit\n" : "ret\n"));
  };
  EXPECT_THAT(judged({spills("k kernel", "g", 4), spills("g device", "x", 4)}), ElementsAre("shared-slot"));
  EXPECT_THAT(judged({spills("k kernel", "g", 0), spills("g device", "x", 4)}), ElementsAre());
  EXPECT_THAT(judged({spills("g device", "g", 4)}), ElementsAre("shared-slot"));  // by recursion
  const testing::Programs middle = function("g device", R"(
  block b0
    #0 call "h" clobbers R0, R20:R21 | call "h" clobbers R0, R20:R21
    #1 ret
)");
  EXPECT_THAT(judged({spills("k kernel", "g", 4), middle, spills("h device", "x", 4)}), ElementsAre("shared-slot"));
}

TEST_F(Calls, ASharedSlotIsLiveBehindTheCallUntilItIsWritten) {
  const auto keeps = [](const std::string& spill, const std::string& used) {
    return function("k kernel", R"(
  frame local 0 shared 16
  vreg %0..%1 R b32
  slot 0 shared size 4 align 4 offset 4
  block b0
    #0 %0 = a                     | R0 = a
    +9                            | spill R0, slot 0
    #1 call "g" clobbers R20:R21  | call "g" clobbers R20:R21
    #2 %1 = b                     | R1 = b
    #3 bra -> b1
  block b1
)" + spill + R"(
    +11                           | R2 = refill slot 0
    #4 use )" + used + R"(        | use R2
    #5 exit
)");
  };
  const testing::Programs stores = function("g device", R"(
  frame local 0 shared 16
  vreg %0 R b32
  slot 0 shared size 4 align 4 offset 4
  block b0
    #0 %0 = a | R0 = a
    +9        | spill R0, slot 0
    #1 use %0 | use R0
    #2 ret
)");
  EXPECT_THAT(judged({keeps("", "%0"), stores}), ElementsAre("shared-slot"));
  EXPECT_THAT(judged({keeps("    +10 | spill R1, slot 0", "%1"), stores}), ElementsAre());
}

// By byte: what stands beside the bytes of the other, what is never stored, and what is never refilled is nobody's.
TEST_F(Calls, SharedSlotsMeetInBytes) {
  const auto in_shared = [](const std::string& head, const std::string& slot, const std::string& at, bool is_callee) {
    return function(
        head,
        "  frame local 0 shared 16\n  vreg %0 R b16\n  slot 0 shared " + slot + R"(
  block b0
    #0 %0 = a                               | R0 = a
    +9                                      | spill R0.lo, slot 0+)" +
            at + (is_callee ? "\n    #1 nop | nop" : "\n    #1 call \"g\" clobbers R0, R20:R21 | call \"g\" clobbers R0, R20:R21") +
            R"(
    +10                                     | R0.lo = refill slot 0+)" +
            at + R"(
    #2 use %0                               | use R0
    #3 )" + (is_callee ? "ret\n" : "exit\n"));
  };
  const auto file = [&](const std::string& of_caller, const std::string& at, const std::string& of_callee,
                        const std::string& there) {
    return judged({in_shared("k kernel", of_caller, at, false), in_shared("g device", of_callee, there, true)});
  };
  const std::string low = "size 2 align 2 offset 0", high = "size 2 align 2 offset 2", both = "size 4 align 4 offset 0";
  EXPECT_THAT(file(low, "0", high, "0"), ElementsAre());
  EXPECT_THAT(file(high, "0", high, "0"), ElementsAre("shared-slot"));
  EXPECT_THAT(message, HasSubstr("byte 2 of"));
  EXPECT_THAT(file(both, "0", high, "0"), ElementsAre());
  EXPECT_THAT(file(both, "2", high, "0"), ElementsAre("shared-slot"));
  EXPECT_THAT(file(high, "0", both, "0"), ElementsAre());
  EXPECT_THAT(file(high, "0", both, "2"), ElementsAre("shared-slot"));
}

// A register operand without a fixed register: the call goes through it, and its name is that of a prototype.
TEST_F(Calls, CallsThroughARegisterNameNobody) {
  const testing::Programs indirect = function("k kernel", R"(
  vreg %0 B b32
  vreg %1 R b64
  block b0
    #0 %0, %1 = a               | B0, R4:R5 = a
    #1 call "g", %1 clobbers R0 | call "g", R4:R5 clobbers R0
    #2 use %0                   | use B0
    #3 exit
)");
  EXPECT_THAT(judged({indirect, callee("B0")}), ElementsAre());
}

// A call overwrites the return address although a callee preserves the registers around it, so that lists are whole with it alone.
TEST(CallLists, HaveTheReturnAddressInThem) {
  const auto caller = [](const std::string& clobbers) {
    return testing::parse_function("func @k kernel target sm_90 threads 32 abi cuda\n  block b0\n    #0 call \"g\" clobbers " +
                                   clobbers + "\n    #1 exit\n");
  };
  const ir::Function g = testing::parse_function("func @g device target sm_90 threads 32 abi cuda\n  block b0\n    #0 ret\n");
  const ir::Target* const target = ir::find_target("sm_90");
  std::string all, without;
  for (const ir::PReg r : may_write(g, *target)) {
    all += fmt::format("{}R{}", all.empty() ? "" : ", ", r.first);
    if (r.first != 21) without += fmt::format("{}R{}", without.empty() ? "" : ", ", r.first);
  }
  for (const auto& [clobbers, is_whole] : {std::pair(all, true), std::pair(without, false)}) {
    const ir::Function k = caller(clobbers);
    const std::vector<FunctionOfFile> file = {{&k, nullptr, target}, {&g, nullptr, target}};
    EXPECT_EQ(lists_what_callees_may_write(file), is_whole) << clobbers;
  }
}

ir::Function device(const std::string& name, const std::string& body) {
  return testing::parse_function("func @" + name + " device target sm_90 threads 32 abi cuda\n" + body);
}

// The files of the vregs and of the clobbers, and always R.
TEST(CallLists, HaveWhatACalleeMayWriteByItsDeclarations) {
  const ir::Target* const target = ir::find_target("sm_90");
  const auto written = [&](const std::string& body) { return may_write(device("g", body), *target); };
  const ir::PReg r0 = {ir::RegFile::R, 1, 0}, r24 = {ir::RegFile::R, 1, 24}, p0 = {ir::RegFile::P, 1, 0},
                 b0 = {ir::RegFile::B, 1, 0};
  const auto plain = written("  block b0\n    #0 ret\n");
  EXPECT_THAT(plain, Contains(r0));
  EXPECT_THAT(plain, Not(Contains(r24))) << "which is preserved";
  EXPECT_THAT(plain, Not(Contains(p0)));
  EXPECT_THAT(written("  vreg %0 P pred\n  block b0\n    #0 ret\n"), Contains(p0));
  EXPECT_THAT(written("  block b0\n    #0 a clobbers B1\n    #1 ret\n"), Contains(b0));
  EXPECT_THAT(written("  vreg %0 R b32 fixed R0 architectural\n  block b0\n    #0 ret\n"), Not(Contains(r0)));
}

// No clobber may stand in an architectural register of the caller, so a callee that may write it needs to know of it.
TEST(CallLists, LackArchitecturalRegistersOfTheCallerAlone) {
  const ir::Target* const target = ir::find_target("sm_90");
  const std::string head = "  vreg %0 R b32 fixed R0 architectural\n", ret = "  block b0\n    #0 ret\n";
  std::string all_but_r0;
  for (const ir::PReg r : may_write(device("g", ret), *target))
    if (r.first != 0) all_but_r0 += fmt::format("{}R{}", all_but_r0.empty() ? "" : ", ", r.first);
  const ir::Function k = device("k", head + "  block b0\n    #0 call \"g\" clobbers " + all_but_r0 + "\n    #1 ret\n");
  const auto is_whole = [&](const std::string& body) {
    const ir::Function g = device("g", body);
    return lists_what_callees_may_write(std::vector<FunctionOfFile>{{&k, nullptr, target}, {&g, nullptr, target}});
  };
  EXPECT_FALSE(is_whole(ret));
  EXPECT_TRUE(is_whole(head + ret));
  EXPECT_FALSE(is_whole(head + "  block b0\n    #0 %0 = a\n    #1 ret\n")) << "which the call does not define";
}

TEST(CallsInside, AreThoseOfFunctionsOfTheFile) {
  const ir::Target* const target = ir::find_target("sm_90");
  const ir::Function k = device("k", "  block b0\n    #0 call \"g\"\n    #1 ret\n"), g = device("g", "  block b0\n    #0 ret\n");
  EXPECT_TRUE(has_calls_inside(std::vector<FunctionOfFile>{{&k, nullptr, target}, {&g, nullptr, target}}));
  EXPECT_FALSE(has_calls_inside(std::vector<FunctionOfFile>{{&k, nullptr, target}}));
}

}  // namespace
}  // namespace regduel::oracles
