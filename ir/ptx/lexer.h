// The words of a PTX text. A word keeps the dots of an opcode (`ld.global.v4.f32`) and of a special register (`%tid.x`);
// a directive is one dot and one name (`.reg`). Comments and preprocessor lines vanish here.
//
// Source: PTX ISA 9.0, section 4 "Syntax". Tested by ptx_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace regduel::ir::ptx {

struct Place {
  int line = 1;    // 1-based
  int column = 1;  // 1-based, in bytes
};

enum class TokenKind : std::uint8_t {
  End,          // the last token of every list
  Word,         // name, register, opcode
  Directive,    // ".reg": the text keeps the dot
  Number,       // begins with a digit; parse_number says what it means
  String,       // without its quotes, escapes left as they are
  Punctuation,  // one byte
  Bad,          // a byte that no token begins with, or a comment or string without its end
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  Place place;

  [[nodiscard]] bool is(char punctuation) const { return kind == TokenKind::Punctuation && text[0] == punctuation; }
  [[nodiscard]] bool is_directive(std::string_view name) const { return kind == TokenKind::Directive && text == name; }
};

// All tokens, then one End. The texts point into `text`. Cost: O(bytes). Total: any bytes have tokens.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text);

// The 64 bits that an integer (decimal, 0x, 0b, octal, suffix U) or a floating literal (0f and 8 digits, 0d and 16 digits,
// or decimal: the bits of the double) stands for; nullopt if it is none, or if an integer needs more than 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);

}  // namespace regduel::ir::ptx
