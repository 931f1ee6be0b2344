#include "ir/ptx/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace regduel::ir::ptx {
namespace {

enum CharClass : std::uint8_t { kDigit = 1, kNameStart = 2, kSpace = 4, kPunctuation = 8 };

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = kNameStart;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = kNameStart;
  classes['_'] = classes['$'] = kNameStart;
  for (const char c : std::string_view(" \t\r\f\v\n")) classes[static_cast<unsigned char>(c)] = kSpace;
  for (const char c : std::string_view(",;:{}()[]<>=|!+-*/@~&^?.%")) classes[static_cast<unsigned char>(c)] = kPunctuation;
  return classes;
}();

constexpr std::uint8_t class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
constexpr bool is_digit(char c) { return class_of(c) == kDigit; }
constexpr bool is_name_start(char c) { return class_of(c) == kNameStart; }
constexpr bool is_name_part(char c) { return (class_of(c) & (kDigit | kNameStart)) != 0; }

std::string_view between(const char* from, const char* to) { return {from, static_cast<std::size_t>(to - from)}; }

}  // namespace

Place place_in(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(newline == std::string_view::npos ? offset : offset - newline - 1) + 1};
}

// Nothing after a bad token will be looked at.
Token Lexer::bad(const char* from, const char* to) {
  at_ = end_;
  return {TokenKind::Bad, between(from, to)};
}

bool Lexer::skip_space() {
  while (at_ != end_) {
    const char c = *at_;
    if (class_of(c) == kSpace) {
      ++at_;
    } else if ((c == '/' && peek(1) == '/') || (c == '#' && (at_ == begin_ || at_[-1] == '\n'))) {
      const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
      at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
    } else if (c == '/' && peek(1) == '*') {
      const std::string_view rest = between(at_ + 2, end_);
      const std::size_t close = rest.find("*/");
      if (close == std::string_view::npos) return false;
      at_ += 2 + close + 2;
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::scan_word() {
  const char* const from = at_++;
  for (;;) {
    while (at_ != end_ && is_name_part(*at_)) ++at_;
    if (peek() == '.' && is_name_part(peek(1))) at_ += 2;
    else if (peek() == ':' && peek(1) == ':' && is_name_part(peek(2))) at_ += 3;
    else return {TokenKind::Word, between(from, at_)};
  }
}

// Digits, letters of a base, an exponent, a suffix; "1." has no digits behind its point.
Token Lexer::scan_number() {
  const char* const from = at_;
  const bool is_plain = *from != '0' || !(peek(1) == 'x' || peek(1) == 'X' || peek(1) == 'f' || peek(1) == 'F' || peek(1) == 'd' ||
                                          peek(1) == 'D' || peek(1) == 'b' || peek(1) == 'B');
  bool has_point = false;
  for (; at_ != end_; ++at_) {
    if (is_plain && !has_point && *at_ == '.' && !is_name_start(peek(1))) {
      has_point = true;
    } else if ((*at_ == '+' || *at_ == '-') && is_plain && (at_[-1] == 'e' || at_[-1] == 'E') && is_digit(peek(1))) {
    } else if (!is_name_part(*at_)) {
      break;
    }
  }
  return {TokenKind::Number, between(from, at_)};
}

// ".5" and ".5e3", where ".2d" is a part of an opcode.
Token Lexer::scan_fraction() {
  const char* const from = at_++;
  while (at_ != end_ && is_digit(*at_)) ++at_;
  if (const char c = peek(); c != 'e' && c != 'E') {
    if (at_ == end_ || !is_name_start(c)) return {TokenKind::Number, between(from, at_)};
  } else {
    at_ += peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    const char* const exponent = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    if (at_ != exponent && (at_ == end_ || !is_name_start(*at_))) return {TokenKind::Number, between(from, at_)};
  }
  at_ = from;
  return {};
}

Token Lexer::next() {
  if (!skip_space()) return bad(at_, end_);
  if (at_ == end_) return {TokenKind::End, between(end_, end_)};
  const char c = *at_;
  if (is_name_start(c) || (c == '%' && is_name_part(peek(1)))) return scan_word();
  if (is_digit(c)) return scan_number();
  const char* const from = at_;
  if (c == '.' && is_digit(peek(1)))
    if (const Token fraction = scan_fraction(); fraction.kind == TokenKind::Number) return fraction;
  if (c == '.' && is_name_part(peek(1))) {
    ++at_;
    while (at_ != end_ && (is_name_part(*at_) || (*at_ == ':' && peek(1) == ':' && is_name_part(peek(2)))))
      at_ += *at_ == ':' ? 2 : 1;
    return {TokenKind::Directive, between(from, at_)};
  }
  if (c == '"') {
    for (++at_; at_ != end_ && *at_ != '\n'; ++at_) {
      if (*at_ == '\\' && at_ + 1 != end_ && at_[1] != '\n') ++at_;
      else if (*at_ == '"') return ++at_, Token{TokenKind::String, between(from + 1, at_ - 1)};
    }
    return bad(from, at_);
  }
  if (class_of(c) != kPunctuation) return bad(from, from + 1);
  ++at_;
  return {TokenKind::Punctuation, between(from, at_)};
}

namespace {

std::optional<std::uint64_t> digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Number> parse_number(std::string_view text) {
  const auto integer = [](std::string_view part, int base, bool is_unsigned) -> std::optional<Number> {
    const auto bits = digits(part, base);
    if (!bits) return std::nullopt;
    return Number{*bits, is_unsigned || *bits >> 63 != 0, false};
  };
  const auto bits_of_float = [](std::string_view part) -> std::optional<Number> {
    const auto bits = digits(part, 16);
    return bits ? std::optional(Number{*bits, false, true}) : std::nullopt;
  };
  if (text.size() == 10 && (text.starts_with("0f") || text.starts_with("0F"))) return bits_of_float(text.substr(2));
  if (text.size() == 18 && (text.starts_with("0d") || text.starts_with("0D"))) return bits_of_float(text.substr(2));
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const bool binary = text.starts_with("0b") || text.starts_with("0B");
  if (!hex && !binary && text.find_first_of(".eE") != std::string_view::npos) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return Number{std::bit_cast<std::uint64_t>(value), false, true};
  }
  const bool is_unsigned = text.ends_with('U');
  if (is_unsigned) text.remove_suffix(1);
  if (hex) return integer(text.substr(2), 16, is_unsigned);
  if (binary) return integer(text.substr(2), 2, is_unsigned);
  if (text.size() > 1 && text[0] == '0') return integer(text.substr(1), 8, is_unsigned);
  return integer(text, 10, is_unsigned);
}

}  // namespace regduel::ir::ptx
