// The words of a PTX text. A word keeps the dots of an opcode (`ld.global.v4.f32`) and of a special register (`%tid.x`);
// a directive is one dot and one name (`.reg`). Comments and preprocessor lines vanish here. Words are made one at a time, since a list of
// all of them would take many times the memory of the text.
//
// Source: PTX ISA 9.0, section 4 "Syntax". Tested by ptx_robust_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace regduel::ir::ptx {

struct Place {
  int line = 1;    // 1-based
  int column = 1;  // 1-based, in bytes
};
// Of the byte at `offset`. Cost: O(offset), for what happens once a file, like an error.
[[nodiscard]] Place place_in(std::string_view text, std::size_t offset);

enum class TokenKind : std::uint8_t {
  End,          // what follows the last one, again and again
  Word,         // name, register, opcode
  Directive,    // ".reg": the text keeps the dot
  Number,       // begins with a digit; parse_number says what it means
  String,       // without its quotes, escapes left as they are
  Punctuation,  // one byte
  Bad,          // a byte that no token begins with, or a comment or string without its end; End follows
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // points into the text of the file

  [[nodiscard]] bool is(char punctuation) const { return kind == TokenKind::Punctuation && text[0] == punctuation; }
  [[nodiscard]] bool is_directive(std::string_view name) const { return kind == TokenKind::Directive && text == name; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}
  // Total: any bytes have tokens. Cost: O(bytes) for all of them.
  Token next();

 private:
  bool skip_space();  // false where a comment has no end, with at_ at its beginning
  Token scan_word();
  Token scan_number();
  Token scan_fraction();  // of no kind, with at_ where it was, where none stands here
  Token bad(const char* from, const char* to);
  [[nodiscard]] char peek(std::ptrdiff_t k = 0) const { return k < end_ - at_ ? at_[k] : '\0'; }

  const char* begin_;
  const char* at_;
  const char* end_;
};

struct Number {
  std::uint64_t bits = 0;
  bool is_unsigned = false;  // has the suffix U, or needs all 64 bits
  bool is_float = false;     // bits of a float (0f) or a double
};
// What an integer (decimal, 0x, 0b, octal, suffix U) or a floating literal (0f and 8 digits, 0d and 16 digits, or decimal: the bits of the
// double) stands for; nullopt if it is none, or if an integer needs more than 64 bits.
[[nodiscard]] std::optional<Number> parse_number(std::string_view text);

}  // namespace regduel::ir::ptx
