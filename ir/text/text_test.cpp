// print and parse: round trip, the examples of FORMAT.md, and each message with its place.

#include "ir/text/text.h"

#include <gtest/gtest.h>

#include "base/io.h"
#include "base/random.h"
#include "ir/check.h"

namespace regduel::ir {
namespace {

Function one(std::string_view body) {
  const auto m = parse(body);
  EXPECT_TRUE(m.has_value()) << (m ? "" : to_string(m.error()));
  return m && !m->functions.empty() ? m->functions[0] : Function();
}

std::string error_of(std::string_view text) {
  const auto m = parse(text, "t.rir");
  return m ? "no error" : to_string(m.error());
}

constexpr std::string_view kHead = "rir 1\nfunc @f kernel target sm_90 threads 256\n";
std::string in_function(std::string_view lines) { return std::string(kHead) + std::string(lines); }

// The fenced blocks of FORMAT.md that begin with "rir 1".
std::vector<std::string> examples() {
  const auto text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/ir/FORMAT.md");
  std::vector<std::string> blocks;
  std::size_t at = 0;
  while (text && (at = text->find("```\nrir 1", at)) != std::string::npos) {
    const std::size_t begin = at + 4;
    const std::size_t end = text->find("```", begin);
    blocks.push_back(text->substr(begin, end - begin));
    at = end + 3;
  }
  return blocks;
}

TEST(Text, ExamplesOfTheFormatDocumentParseAndRoundTrip) {
  const auto blocks = examples();
  ASSERT_GE(blocks.size(), 2u);
  for (const std::string& block : blocks) {
    const auto m = parse(block);
    ASSERT_TRUE(m.has_value()) << to_string(m.error());
    const std::string printed = print(*m);
    const auto again = parse(printed);
    ASSERT_TRUE(again.has_value()) << to_string(again.error()) << '\n' << printed;
    EXPECT_EQ(printed, print(*again));
  }
}

TEST(Text, PrintsOperandsAsWritten) {
  const std::string text = in_function(
      "  vreg %0 R b64\n"
      "  vreg %1 R b128 align 8\n"
      "  vreg %2 P pred name \"p \\\"q\\\" \\x01\"\n"
      "  block b0 depth 0 freq 3 name \"entry\"\n"
      "    #0 %0, %1, %2 = op 1, -9223372036854775808, \"a\\nb\" !read\n"
      "    #1 @!%2 %0.hi{inout}, %1.w2{=R8:R11} = op.x::y %0.lo, %1.hi, !%2 clobbers R0:R3, P1 !write\n"
      "    #2 copy<mov.b64> %0\n    #3 exit\n");
  // A copy without defs is no copy: the text is right, the program is not.
  EXPECT_EQ(error_of(text), "t.rir:9:5: error: instruction 2: a copy has as many register uses as defs");
  std::string fixed = text.substr(0, text.find("    #2"));
  fixed += "    #2 exit\n";
  EXPECT_EQ(print(Module{{one(fixed)}}), fixed);
}

TEST(Text, MnemonicsThatLookLikeSomethingElseAreQuoted) {
  const std::string text =
      in_function("  block b0\n    #0 \"copy\" !write\n    #1 \"R4\" !write\n    #2 \"a b\" 1 !write\n    #3 exit\n");
  EXPECT_EQ(print(Module{{one(text)}}), text);
}

TEST(Text, ErrorsNameThePlaceAndWhatWasExpected) {
  EXPECT_EQ(error_of(""), "t.rir:1:1: error: expected the file to begin with \"rir 1\", found the end of the file");
  EXPECT_EQ(error_of("rir 9\n"), "t.rir:1:5: error: format version 9 is not known (this program reads up to 1)");
  EXPECT_EQ(error_of("rir 1\nblock b0\n"), "t.rir:2:1: error: expected \"func\", found 'block'");
  EXPECT_EQ(error_of("rir 1\nfunc f"), "t.rir:2:6: error: expected '@' and the function's name, found 'f'");
  EXPECT_EQ(error_of(in_function("  vreg %0 X b32\n")),
            "t.rir:3:11: error: expected a register class (R, Ralt, UR, URext, P, UP, ACC, B, UB), found 'X'");
  EXPECT_EQ(error_of(in_function("  vreg %0 R b33\n")),
            "t.rir:3:13: error: expected a type (b, s, u or f with 8, 16, 32, 64, 96, 128 or 256; or pred), found 'b33'");
  EXPECT_EQ(error_of(in_function("  vreg %0 R b32\n  vreg %0 R b32\n")), "t.rir:4:8: error: %0 is declared twice");
  EXPECT_EQ(error_of(in_function("  block b0\n    #0 op %3\n    #1 exit\n")), "t.rir:4:11: error: %3 is not declared");
  EXPECT_EQ(error_of(in_function("  block b0\n    #0 op\n    #0 exit\n")),
            "t.rir:5:5: error: instruction 0 is there twice (first in line 4)");
  EXPECT_EQ(error_of(in_function("  block b0\n    #0 op\n")),
            "t.rir:4:5: error: instruction 0: block b0 ends without a terminator (bra, cbra, mbra, ret, exit)");
  EXPECT_EQ(
      error_of(in_function("  block b0\n    #0 op !wrote\n")),
      "t.rir:4:12: error: expected a flag: read, write, readonly, barrier, remat, commutative, convergent, deleted or line, found "
      "'wrote'");
  EXPECT_EQ(error_of(in_function("  block b0\n    #0 bra -> b7\n")), "t.rir:4:5: error: instruction 0: there is no block b7");
  EXPECT_EQ(error_of(in_function("  vreg %0 R b32\n  block b0\n    #0 %0.w1 = op\n")),
            "t.rir:5:10: error: the part lies outside the register, which has 4 bytes");
}

TEST(Text, HalvesOfPredicateRegisters) {
  const std::string head = "rir 1\nfunc @f kernel target toy threads 32 predicate_halves allocated\n  vreg %0 P pred fixed P1.hi\n";
  const std::string text =
      head + "  block b0\n    #0 P0.lo, UP1.hi = setp R4 clobbers P1, P1:P2, P0.hi:P1.lo, R2:R3\n    #1 exit\n";
  const auto m = parse(text);
  ASSERT_TRUE(m.has_value()) << to_string(m.error());
  const Function& f = m->functions[0];
  EXPECT_EQ(print(*m), text);
  EXPECT_EQ(f.vregs[0].fixed, (PReg{RegFile::P, 1, 3}));
  std::vector<PReg> registers;
  for (const Operand& op : f.operands_of(f.insts[0])) registers.push_back(op.preg());
  EXPECT_EQ(registers, (std::vector{PReg{RegFile::P, 1, 0}, PReg{RegFile::UP, 1, 3}, PReg{RegFile::R, 1, 4}, PReg{RegFile::P, 2, 2},
                                    PReg{RegFile::P, 4, 2}, PReg{RegFile::P, 2, 1}, PReg{RegFile::R, 2, 2}}));
  EXPECT_EQ(error_of(head + "  block b0\n    #0 P256 = setp\n    #1 exit\n"),
            "t.rir:5:8: error: no register file has more than 512 units");
  // Without the word P1 is a register, which has no halves.
  EXPECT_EQ(error_of(in_function("  block b0\n    #0 nop clobbers P1.hi\n    #1 exit\n")),
            "t.rir:4:23: error: expected the end of the line, found '.hi'");
}

TEST(Text, SourceLines) {
  const auto m =
      parse(in_function("  block b0\n    #0 nop !line \"a b.cu\" 12:3\n    #1 nop !convergent !line \"c.cu\" 4\n"
                        "    #2 nop !line \"a b.cu\" 12:3\n    #3 exit\n"));
  ASSERT_TRUE(m.has_value()) << to_string(m.error());
  const Function& f = m->functions[0];
  EXPECT_EQ(f.source_lines.size(), 2u);
  EXPECT_EQ(f.source_place(f.insts[0]), "a b.cu:12:3");
  EXPECT_EQ(f.source_place(f.insts[1]), "c.cu:4");
  EXPECT_EQ(f.insts[2].line, f.insts[0].line);
  EXPECT_EQ(f.source_place(f.insts[3]), "");
  EXPECT_EQ(print(f, f.insts[1]), "#1 nop !convergent !line \"c.cu\" 4");
  for (const char* bad : {"!line", "!line 3", "!line \"a\"", "!line \"a\" 0", "!line \"a\" 3:0", "!line \"a\" 3:"})
    EXPECT_FALSE(parse(in_function("  block b0\n    #0 exit " + std::string(bad) + "\n")).has_value()) << bad;
}

TEST(Text, AnyPrefixAndAnyMutationIsReadOrRejected) {
  const std::string text = examples().at(0);
  for (std::size_t n = 0; n < text.size(); ++n) (void)parse(std::string_view(text).substr(0, n));
  Random random(7);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string mutant = text;
    for (int k = random.between(1, 4); k > 0; --k) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(mutant.size()));
      switch (random.below(3)) {
        case 0: mutant[at] = static_cast<char>(random.below(256)); break;
        case 1: mutant.erase(at, random.below(8)); break;
        default: mutant.insert(at, mutant.substr(random.below(static_cast<std::uint32_t>(mutant.size())), random.below(12)));
      }
    }
    const auto m = parse(mutant);
    if (!m) {
      EXPECT_GT(m.error().line, 0);
      EXPECT_GT(m.error().column, 0);
      continue;
    }
    ++accepted;
    const std::string printed = print(*m);
    const auto again = parse(printed);
    ASSERT_TRUE(again.has_value()) << to_string(again.error()) << '\n' << printed;
    EXPECT_EQ(print(*again), printed);
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace regduel::ir
