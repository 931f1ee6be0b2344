// Clobbers of calls by what the allocations of their callees write.
#include "cli/ipra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Program> programs_of(const std::string& text) {
  auto module = ir::parse("rir 1\n" + text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  std::vector<Program> programs;
  if (module)
    for (ir::Function& f : module->functions) programs.push_back({"t.rir", std::move(f), nullptr});
  return programs;
}

std::string function(const std::string& name, const std::string& calls) {
  std::string text = "func @" + name + " device target sm_90 threads 32\n  block b0\n";
  int id = 0;
  for (std::size_t at = 0; at < calls.size(); ++at)
    text += "    #" + std::to_string(id++) + " call \"" + calls.substr(at, 1) + "\" clobbers R0:R23, R32:R254\n";
  return text + "    #" + std::to_string(id) + " ret\n";
}

TEST(Ipra, CalleesComeFirst) {
  const BottomUp b = bottom_up(programs_of(function("a", "bc") + function("b", "c") + function("c", "x")));
  EXPECT_THAT(b.order, ElementsAre(2, 1, 0));
  EXPECT_THAT(b.is_known, ElementsAre(true, true, true));
}

TEST(Ipra, RecursionAndWhatCallsItKeepTheAbi) {
  const BottomUp b = bottom_up(programs_of(function("a", "b") + function("b", "b") + function("c", "") + function("d", "e") +
                                           function("e", "d") + function("f", "c")));
  EXPECT_THAT(b.order, ElementsAre(2, 5, 0, 1, 3, 4));
  EXPECT_THAT(b.is_known, ElementsAre(false, false, true, false, false, true));
}

// A linker may put another body in the place of a weak one.
TEST(Ipra, AWeakBodySaysNothing) {
  std::vector<Program> programs = programs_of(function("a", "b") + function("b", ""));
  programs[1].declared.is_weak = true;
  EXPECT_THAT(bottom_up(programs).is_known, ElementsAre(true, false));
}

// The name in a call through a register is that of a prototype, not of a function.
TEST(Ipra, PrototypesAreNoFunctions) {
  const BottomUp b =
      bottom_up(programs_of("func @a device target sm_90 threads 32\n  vreg %0 R b64\n  block b0\n    #0 %0 = op\n    #1 call "
                            "\"b\", %0 clobbers R0\n    #2 ret\n" +
                            function("b", "a")));
  EXPECT_THAT(b.order, ElementsAre(0, 1));
  EXPECT_THAT(b.is_known, ElementsAre(true, true));
}

// What the callee writes and clobbers in turn, less R24, which it gives back.
TEST(Ipra, NarrowsClobbers) {
  const std::string head = "func @c device target sm_90 threads 32";
  const auto before =
      programs_of(head + "\n  vreg %0 R b64\n  block b0\n    #0 %0 = op\n    #1 call \"x\" clobbers R4:R6, P0\n    #2 ret\n");
  const auto after = programs_of(head +
                                 " allocated\n  frame local 4 shared 0\n  vreg %0 R b64\n  slot 0 local size 4 align 4 offset 0\n"
                                 "  block b0\n    +3 spill R24, slot 0\n    #0 R24:R25 = op\n    +4 R2 = copy R24\n"
                                 "    #1 call \"x\" clobbers R4:R6, P0\n    +5 R24 = refill slot 0\n    #2 ret\n");
  CalleeClobbers clobbers;
  clobbers.add(before[0].function, after[0].function, ir::default_target());
  const auto caller = programs_of(
      "func @k kernel target sm_90 threads 32\n  vreg %0 R b64\n  block b0\n    #0 %0 = op\n"
      "    #1 call \"c\", 3 clobbers R0:R23, R32:R254, P0:P6\n    #2 call \"other\" clobbers R0:R23\n    #3 call %0 clobbers "
      "R0:R1\n    #4 exit\n");
  const std::string text = ir::print(clobbers.applied_to(caller[0].function));
  EXPECT_THAT(text, HasSubstr("call \"c\", 3 clobbers R2, R4:R6, P0\n"));
  EXPECT_THAT(text, HasSubstr("call \"other\" clobbers R0:R23\n"));
  EXPECT_THAT(text, HasSubstr("call %0 clobbers R0:R1\n"));
}

// The caller writes the return address, whatever the callee does.
TEST(Ipra, TheReturnAddressStays) {
  const auto callee = programs_of("func @c device target sm_90 threads 32 abi cuda\n  block b0\n    #0 ret\n");
  const auto allocated = programs_of("func @c device target sm_90 threads 32 abi cuda allocated\n  block b0\n    #0 ret\n");
  CalleeClobbers clobbers;
  clobbers.add(callee[0].function, allocated[0].function, ir::default_target());
  const auto caller = programs_of(
      "func @k kernel target sm_90 threads 32 abi cuda\n  block b0\n    #0 call \"c\" clobbers R0:R1, R3:R15, R20:R21, P0:P6\n    "
      "#1 exit\n");
  EXPECT_THAT(ir::print(clobbers.applied_to(caller[0].function)), HasSubstr("call \"c\" clobbers R20:R21\n"));
}

}  // namespace
}  // namespace regduel::cli
