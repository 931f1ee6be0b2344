#include "duel/exec/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/case_file.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FrameState state_of(std::string_view bytes) {
  Frame frame;
  return look_at_frame(bytes, frame);
}

TEST(Protocol, AFrameComesBack) {
  const std::string text = frame_text("allocated", 7, "rir 1\n");
  EXPECT_EQ(text, "allocated 7 6\nrir 1\n");
  const std::string more = text + "more";
  Frame frame;
  ASSERT_EQ(look_at_frame(more, frame), FrameState::Complete);
  EXPECT_EQ(frame.word, "allocated");
  EXPECT_EQ(frame.number, 7u);
  EXPECT_EQ(frame.payload, "rir 1\n");
  EXPECT_EQ(frame.size, text.size());
  for (std::size_t n = 0; n < text.size(); ++n) EXPECT_EQ(state_of(text.substr(0, n)), FrameState::Begun) << n;
}

TEST(Protocol, GarbageIsSeenAtItsFirstByte) {
  for (const char* bytes : {"H", "hello\n", "hello 1\n", "hello x", " hello", "hello 1 2 ", "hello  1", "hello 1 2\r", "\n",
                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "hello 11111111111111111111", "hello -1"})
    EXPECT_EQ(state_of(bytes), FrameState::Garbage) << bytes;
  EXPECT_EQ(state_of(std::string_view("\0", 1)), FrameState::Garbage);
  EXPECT_EQ(state_of("hello 1 67108865\n"), FrameState::TooLarge);
  EXPECT_EQ(state_of("hello 1 67108864\n"), FrameState::Begun);
}

TEST(Protocol, AHelloSaysWhoItIs) {
  const auto hello =
      parse_hello("name: mine\nversion: 1.2\nfuel: yes\nknob: depth int 3 1,2,7 How deep it looks\nknob: x bool 0 - X\n");
  ASSERT_TRUE(hello.has_value()) << hello.error();
  EXPECT_EQ(hello->name, "mine");
  EXPECT_EQ(hello->version, "1.2");
  EXPECT_TRUE(hello->has_fuel);
  ASSERT_EQ(hello->knobs.size(), 2u);
  EXPECT_EQ(hello->knobs[0].name, "depth");
  EXPECT_EQ(hello->knobs[0].type, "int");
  EXPECT_EQ(hello->knobs[0].default_value, "3");
  EXPECT_THAT(hello->knobs[0].samples, ElementsAre("1", "2", "7"));
  EXPECT_EQ(hello->knobs[0].help, "How deep it looks");
  EXPECT_TRUE(hello->knobs[1].samples.empty());
  EXPECT_FALSE(parse_hello("name: mine")->has_fuel);
  for (const char* wrong : {"", "fuel: yes\n", "name: two words\n", "name: a\nfuel: maybe\n", "name: a\nknob: b\n",
                            "name: a\nknob: a=b int 1 - x\n", "name: a\ncolour: red\n", "name:\n", "name: a\nversion: \x01\n"})
    EXPECT_FALSE(parse_hello(wrong).has_value()) << wrong;
  EXPECT_THAT(parse_hello("name: a\ncolour: red\n").error(), HasSubstr("colour: red"));
}

constexpr const char* kDevice = R"(rir 1
func @f device target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = op
    #1 ret
)";

TEST(Protocol, ARequestIsACaseFile) {
  const ir::Function f = ir::parse(kDevice)->functions[0];
  const ir::Target& target = *ir::find_target("sm_90");
  ir::Fuel fuel{.limit = 12, .spent = 2};
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target, 24);
  options.knobs = {{"depth", "7"}};
  options.fuel = &fuel;
  const std::string text = request_text(f, target, options);
  EXPECT_EQ(text,
            "// target: sm_90\n"
            "// limit: R=24 P=7 B=16 UR=63 UP=7 UB=16\n"
            "// knob: depth=7\n"
            "// fuel: 10\n"
            "// registers: R0:R23 P0:P6 B0:B15 UR0:UR62 UP0:UP6 UB0:UB15\n"
            "// callee-saved: R24:R31\n" +
                std::string(kDevice));
  const auto played = parse_case(text);
  ASSERT_TRUE(played.has_value());
  EXPECT_EQ(played->limits.of(ir::RegFile::R), 24);
  EXPECT_EQ(played->knobs, options.knobs);
}

TEST(Protocol, ReservedRegistersDivideAStretch) {
  const auto target = ir::parse_target(R"({"name": "toy", "units": {"R": 8}, "reserved": ["R3", "R6"]})");
  ASSERT_TRUE(target.has_value());
  ir::AllocOptions options;
  options.limits = ir::Limits::of(*target);
  const ir::Function f = ir::parse("rir 1\nfunc @f kernel target toy threads 1\n  block b0\n    #0 exit\n")->functions[0];
  EXPECT_THAT(request_text(f, *target, options), HasSubstr("// registers: R0:R2 R4:R5 R7\nrir 1\n"));
}

TEST(Protocol, SaysWhereMemoryIsReachedThroughR) {
  const ir::Function f = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 1\n  block b0\n    #0 exit\n")->functions[0];
  ir::Target target = ir::default_target();
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target);
  EXPECT_THAT(request_text(f, target, options), ::testing::Not(HasSubstr("memory-through-r")));
  target.abi(ir::AbiName::Seed).memory_through_r = true;
  EXPECT_THAT(request_text(f, target, options), HasSubstr("// memory-through-r: yes\nrir 1\n"));
}

TEST(Protocol, AnAnswerSaysWhatItSpent) {
  EXPECT_EQ(answer_head("// spent: 7\n// refused: coalesce\nrir 1\n").spent, 7);
  EXPECT_EQ(answer_head("// spent: 7\n// refused: coalesce\nrir 1\n").refused, "coalesce");
  EXPECT_FALSE(answer_head("rir 1\n// spent: 7\n").spent.has_value());
  EXPECT_EQ(answer_head("// spent: x\n").spent, -1);
  EXPECT_EQ(answer_head("// spent: 99999999999999999999\n").spent, -1);
}

TEST(Protocol, WhatAProgramSaysIsOneLineOfAscii) {
  EXPECT_EQ(one_line("a\nb\r\n\n", 100), "a | b");
  EXPECT_EQ(one_line("\x1B[2J\xC3\xA4", 100), "\\x1B[2J\\xC3\\xA4");
  EXPECT_EQ(one_line("abcdef", 3), "def");
}

}  // namespace
}  // namespace regduel::duel
