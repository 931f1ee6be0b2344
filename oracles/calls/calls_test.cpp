// Files of several functions whose allocations do not go together, and such that do.

#include "oracles/calls/calls.h"

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace regduel::oracles
