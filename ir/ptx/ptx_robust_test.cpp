// The PTX reader: each error with its place, every kernel of corpus/ptx whole, and bytes that are no PTX at all.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/io.h"
#include "base/random.h"
#include "ir/check.h"
#include "ir/ptx/lexer.h"
#include "ir/ptx/ptx.h"
#include "ir/ptx/testing.h"
#include "ir/target.h"
#include "ir/text/text.h"

namespace regduel::ir {
namespace {

using namespace ptx::testing;
using testing::ElementsAre;
using testing::HasSubstr;

// --- errors ---------------------------------------------------------------------------------------------------------
TEST(PtxError, Syntax) {
  EXPECT_EQ(error_of(".target sm_90\nfoo"), "t.ptx:2:1: error: expected a directive, found 'foo'");
  EXPECT_EQ(error_of(".bogus"), "t.ptx:1:1: error: unknown directive '.bogus'");
  EXPECT_EQ(error_of(".target bogus\n.entry k {}"), "t.ptx:1:9: error: unknown target 'bogus'");
  EXPECT_EQ(error_of(".entry k {"), "t.ptx:1:11: error: expected a statement or the '}' of 'k', found the end of the file");
  EXPECT_EQ(error_of("/* never"), "t.ptx:1:1: error: expected a directive, found a comment without its end");
  EXPECT_EQ(error_of(".pragma \"never"), "t.ptx:1:9: error: expected ';', found a string without its end");
  EXPECT_EQ(error_of("\x01"), "t.ptx:1:1: error: expected a directive, found the byte 0x01");
  EXPECT_EQ(error_of(".global .b32 x = {1, 2"), "t.ptx:1:18: error: '{' has no '}'");
  EXPECT_EQ(error_of(".entry k .maxntid 0 {}"), "t.ptx:1:10: error: threads a block: expected 1 to 1048576");
  EXPECT_EQ(error_of(".entry k(.param .b32 a[9999999]) {}"), "t.ptx:1:23: error: a parameter has at most 2^20 bytes");
  EXPECT_EQ(error_in_kernel("add.s32 %r1, %r1 %r2;"), "t.ptx:2:18: error: expected ',' or ';', found '%r2'");
  EXPECT_EQ(error_in_kernel("mov.u32 %r1, 99999999999999999999;"),
            "t.ptx:2:14: error: '99999999999999999999' is no number of at most 64 bits");
  EXPECT_EQ(error_in_kernel("ld.u32 %r1, [%rd1*4];"), "t.ptx:2:18: error: expected '+', ',' or ']', found '*'");
  EXPECT_EQ(error_in_kernel(".reg .q32 %x;"), "t.ptx:2:6: error: unknown type '.q32'");
  EXPECT_EQ(error_in_kernel(".reg .b32 %x, %x;"), "t.ptx:2:15: error: '%x' is declared twice");
  EXPECT_EQ(error_in_kernel(".reg .v4 .b128 %x;"), "t.ptx:2:16: error: a vector register of 4 x 128 bits");
  EXPECT_EQ(error_in_kernel(".weird;"), "t.ptx:2:1: error: unknown directive '.weird' in a function");
  EXPECT_EQ(error_in_kernel("L: L: ret;"), "t.ptx:2:4: error: the label 'L' stands here twice");
  std::string many = "foo {%r1";
  for (int k = 0; k < 256; ++k) many += ",0";
  EXPECT_EQ(error_in_kernel(many + "};"), "t.ptx:2:520: error: more than 256 elements");
  EXPECT_THAT(error_in_kernel(std::string(300, '{')), HasSubstr("t.ptx:2:200: error: '{' is nested deeper than 200"));
}

TEST(PtxError, Names) {
  EXPECT_EQ(error_in_kernel("add.s32 %r1, %r2, %r3;"), "t.ptx:2:19: error: the register '%r3' is not declared");
  EXPECT_EQ(error_in_kernel("add.s32 %r1, %r01, 1;"), "t.ptx:2:14: error: the register '%r01' is not declared");
  EXPECT_EQ(error_in_kernel("@%q bra L;"), "t.ptx:2:2: error: the register '%q' is not declared");
  EXPECT_EQ(error_in_kernel("@%r1 bra L;"), "t.ptx:2:2: error: the guard '%r1' is no predicate");
  EXPECT_EQ(error_in_kernel("bra L;"), "t.ptx:2:5: error: there is no label 'L' here");
  EXPECT_EQ(error_in_kernel("{ L: } bra L;"), "t.ptx:2:12: error: there is no label 'L' here");
  EXPECT_EQ(error_in_kernel("ld.u32 %r1, [x];"), "t.ptx:2:14: error: 'x' is not declared");
  EXPECT_EQ(error_in_kernel("call f;"), "t.ptx:2:6: error: 'f' is not declared");
  EXPECT_EQ(error_in_kernel("brx.idx %r1, p;"), "t.ptx:2:14: error: there is no .branchtargets list 'p' here");
  EXPECT_EQ(error_in_kernel("bra p;"), "t.ptx:2:5: error: there is no label 'p' here");
}

TEST(PtxError, Operands) {
  EXPECT_EQ(error_in_kernel("add.s32 5, %r1, 1;"), "t.ptx:2:9: error: 'add.s32': expected a destination register");
  EXPECT_EQ(error_in_kernel("add.s32;"), "t.ptx:2:1: error: 'add.s32': expected a destination register");
  EXPECT_EQ(error_in_kernel("mov.u32 5, %r1;"), "t.ptx:2:9: error: 'mov.u32': expected a destination register");
  EXPECT_EQ(error_in_kernel("mov.b64 %rd1, {%r1, %rd2};"),
            "t.ptx:2:15: error: 'mov.b64': the pieces together are as wide as the whole");
  EXPECT_EQ(error_in_kernel("selp.u32 %r1, 1, 2, !%r1;"), "t.ptx:2:22: error: only a predicate is negated");
  EXPECT_EQ(error_in_kernel("setp.eq.u32 !%p1, %r1, 2;"), "t.ptx:2:14: error: a destination is not negated");
  EXPECT_EQ(error_in_kernel("add.s32 %r1, (%r1), 2;"), "t.ptx:2:15: error: expected a number, found '%r1'");
  EXPECT_EQ(error_in_kernel("ret 5;"), "t.ptx:2:5: error: 'ret' has no operands");
  EXPECT_EQ(error_in_kernel("call;"), "t.ptx:2:1: error: 'call': expected (results), function, (arguments), prototype");
  EXPECT_EQ(error_in_kernel("bra %r1;"), "t.ptx:2:1: error: 'bra': expected a label");
  EXPECT_EQ(error_of(".entry k { .reg .v2 .f32 %v; mov.f32 %v.z, 1; }"), "t.ptx:1:38: error: '%v.z' has no such component");
}

// --- whole files ----------------------------------------------------------------------------------------------------

std::vector<std::string> corpus() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(REGDUEL_SOURCE_DIR) + "/corpus/ptx"))
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(PtxCorpus, EveryKernelIsReadWhole) {
  const auto paths = corpus();
  ASSERT_GE(paths.size(), 14u);
  for (const std::string& path : paths) {
    const auto text = read_file(path);
    ASSERT_TRUE(text.has_value());
    const auto m = parse_ptx(*text, path);
    ASSERT_TRUE(m.has_value()) << to_string(m.error());
    EXPECT_FALSE(m->functions.empty()) << path;
    // Each function of the text, in order.
    std::size_t at = 0;
    for (const Function& f : m->functions) {
      EXPECT_EQ(faults(f), "") << path;
      at = text->find(f.name + "(", at);
      EXPECT_NE(at, std::string::npos) << path << ": " << f.name;
      EXPECT_GT(f.insts.size(), 3u) << path << ": " << f.name;
      for (const Inst& i : f.insts) EXPECT_NE(f.mnemonic(i), "") << path;
    }
    EXPECT_EQ(print(*m), print(*parse_ptx(*text, path)));
    const auto again = parse(print(*m), path);
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_EQ(print(*again), print(*m));
  }
}

// Either a well-formed module or an error of one line with a place; never the reader's own excuse.
void read_anything(std::string_view text, int* accepted = nullptr) {
  const auto m = parse_ptx(text, "t.ptx");
  if (m) {
    if (accepted != nullptr) ++*accepted;
    for (const Function& f : m->functions) ASSERT_EQ(faults(f), "") << text;
    return;
  }
  ASSERT_GE(m.error().line, 1) << text;
  ASSERT_GE(m.error().column, 1) << text;
  ASSERT_EQ(m.error().message.find('\n'), std::string::npos);
  ASSERT_EQ(m.error().message.find("no equivalent"), std::string::npos) << m.error().message << '\n' << text;
}

TEST(PtxBytes, TruncatedAnywhere) {
  const auto text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/corpus/ptx/switch_vm.ptx");
  ASSERT_TRUE(text.has_value());
  for (std::size_t size = 0; size < text->size() && !HasFatalFailure(); ++size)
    read_anything(std::string_view(*text).substr(0, size));
}

TEST(PtxBytes, Mutated) {
  Random random(7);
  for (const std::string_view name : {"calls", "mma_gemm", "recursion", "block_reduce", "indirect_calls", "mixed_sizes"}) {
    const auto text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/corpus/ptx/" + std::string(name) + ".ptx");
    ASSERT_TRUE(text.has_value());
    const auto size = static_cast<std::uint32_t>(text->size());
    for (int round = 0; round < 150 && !HasFatalFailure(); ++round) {
      std::string mutant = *text;
      for (int k = random.between(1, 4); k > 0; --k) {
        const std::uint32_t at = random.below(size), from = random.below(size), length = random.below(40);
        switch (random.below(4)) {
          case 0: mutant[at] = static_cast<char>(random.below(256)); break;
          case 1: mutant[at] = "%,;:{}()[]<>|!@.0"[random.below(17)]; break;
          case 2: mutant.erase(at % mutant.size(), length); break;
          default: mutant.insert(at % mutant.size(), *text, from, length); break;
        }
      }
      read_anything(mutant);
    }
  }
}

// Tokens in random order: gets deeper than bytes do.
TEST(PtxBytes, ShuffledTokens) {
  static constexpr std::string_view kTokens[] = {
      "%r1", "%r2", "%rd1", "%p1", "%f1", "%f2", "%v", "%v.x", "a", "r", "f",  "L",    "_",      "5",       "-1",   ",",
      ",",   ",",   "|",    "!",   "{",   "}",   "[",  "]",    "(", ")", "+4", "%rs1", "%tid.x", "WARP_SZ", "@%p1", "@!%p1"};
  static constexpr std::string_view kOpcodes[] = {"mov.b64",
                                                  "mov.u32",
                                                  "mov.pred",
                                                  "ld.global.v2.f32",
                                                  "ld.param.u32",
                                                  "ld.param.v2.b16",
                                                  "st.param.b32",
                                                  "st.param.b64",
                                                  "st.v2.u8",
                                                  "call",
                                                  "ret",
                                                  "bra",
                                                  "brx.idx",
                                                  "add.cc.u32",
                                                  "madc.lo.u32",
                                                  "mma.sync",
                                                  "wgmma.mma_async",
                                                  "bar.sync",
                                                  "unknown",
                                                  "exit",
                                                  "setp.eq.u32",
                                                  "ld.v4.u8",
                                                  "L:",
                                                  "L2: .branchtargets L,"};
  Random random(11);
  int accepted = 0;
  for (int round = 0; round < 20000 && !HasFatalFailure(); ++round) {
    std::string text =
        ".func (.param .b64 r) f(.param .align 8 .b8 a[8]) { .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .f32 %f<3>; "
        ".reg .b16 %rs<2>;"
        ".reg .v2 .f32 %v; .param .b32 L3; L0:";
    for (int k = random.between(1, 5); k > 0; --k) {
      if (random.chance(25)) text += random.chance(50) ? "@%p1 " : "@!%p2 ";
      text += std::string(kOpcodes[random.below(std::size(kOpcodes))]) + " ";
      if (random.chance(50)) {
        static constexpr std::string_view kShapes[] = {"%r1, %r2",
                                                       "{%r1, %r2}, [%rd1]",
                                                       "%rd1, {%r1, %r1}",
                                                       "{%f1, %f1}, {%f1, _}",
                                                       "[r], %rd1",
                                                       "[a], {%r1, %r2}",
                                                       "%r1, [a+4]",
                                                       "%rd2, [r]",
                                                       "(r), f, (a)",
                                                       "(%r1), %rd1, (%r1, %p1, r)",
                                                       "L0",
                                                       "%p1|%p1, %p1, !%p1",
                                                       "%v, %v.x",
                                                       "%v.y, %f1, {%v, %v}",
                                                       "{%v.x, %v.x}, [%rd1]",
                                                       "{%rs1, %rs1}, [a]",
                                                       "[r+4], %v.x",
                                                       "{_, _}, %rd1"};
        text += kShapes[random.below(std::size(kShapes))];
      } else {
        for (int n = random.between(0, 6); n > 0; --n) text += std::string(kTokens[random.below(std::size(kTokens))]) + " ";
      }
      text += ";\n";
    }
    text += "}";
    read_anything(text, &accepted);
  }
  EXPECT_GT(accepted, 1000);
}

std::vector<ptx::Token> tokens_of(std::string_view text) {
  ptx::Lexer lexer(text);
  std::vector<ptx::Token> tokens;
  do tokens.push_back(lexer.next());
  while (tokens.back().kind != ptx::TokenKind::End);
  return tokens;
}

TEST(PtxLexer, WordsNumbersAndPlaces) {
  const std::string_view text = "a.b::c\n  %tid.x:.reg 1.5e+3 \"s\\\"t\" // end";
  const std::vector<ptx::Token> tokens = tokens_of(text);
  std::vector<std::string> texts;
  for (const ptx::Token& t : tokens) texts.emplace_back(t.text);
  EXPECT_THAT(texts, ElementsAre("a.b::c", "%tid.x", ":", ".reg", "1.5e+3", "s\\\"t", ""));
  const ptx::Place place = ptx::place_in(text, static_cast<std::size_t>(tokens[1].text.data() - text.data()));
  EXPECT_EQ(place.line, 2);
  EXPECT_EQ(place.column, 3);
  EXPECT_EQ(tokens.back().kind, ptx::TokenKind::End);
  EXPECT_EQ(ptx::parse_number("0xFFFFFFFFFFFFFFFF").value().bits, ~std::uint64_t{0});
  EXPECT_TRUE(ptx::parse_number("7U").value().is_unsigned);
  EXPECT_TRUE(ptx::parse_number("0f3F800000").value().is_float);
  EXPECT_FALSE(ptx::parse_number("09").has_value());
  EXPECT_FALSE(ptx::parse_number("0x").has_value());
}

}  // namespace
}  // namespace regduel::ir
