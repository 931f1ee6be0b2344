#include "ir/ptx/lexer.h"

#include <bit>
#include <charconv>

namespace regduel::ir::ptx {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_name_part(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
constexpr bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 4 + 1);
    for (;;) {
      Token t;
      const bool bad_comment = !skip_space(t.place);
      if (!bad_comment) t.place = here();
      const std::size_t begin = bad_comment ? comment_begin_ : at_;
      if (bad_comment) t.kind = TokenKind::Bad;
      else if (at_ < text_.size()) t.kind = scan();
      t.text = text_.substr(begin, at_ - begin);
      if (t.kind == TokenKind::String) t.text = t.text.substr(1, t.text.size() - 2);
      tokens.push_back(t);
      if (t.kind == TokenKind::Bad) {  // nothing after it will be looked at
        tokens.push_back(Token{TokenKind::End, {}, here()});
        return tokens;
      }
      if (t.kind == TokenKind::End) return tokens;
    }
  }

 private:
  [[nodiscard]] char peek(std::size_t k = 0) const { return at_ + k < text_.size() ? text_[at_ + k] : '\0'; }
  [[nodiscard]] Place here() const { return {line_, static_cast<int>(at_ - line_begin_) + 1}; }
  void new_line() {
    ++line_;
    line_begin_ = at_;
  }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  // False where a comment has no end; `place` is then where it begins.
  bool skip_space(Place& place) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++at_;
        new_line();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        skip_line();
      } else if (c == '#' && at_ == line_begin_) {
        skip_line();
      } else if (c == '/' && peek(1) == '*') {
        place = here();
        comment_begin_ = at_;
        at_ += 2;
        for (;; ++at_) {
          if (at_ >= text_.size()) return false;
          if (text_[at_] == '*' && peek(1) == '/') break;
          if (text_[at_] == '\n') {
            ++at_;
            new_line();
            --at_;
          }
        }
        at_ += 2;
      } else {
        break;
      }
    }
    return true;
  }

  TokenKind scan() {
    const char c = text_[at_];
    if (is_name_start(c) || (c == '%' && is_name_part(peek(1)))) {
      ++at_;
      for (;;) {
        if (is_name_part(peek()) || (peek() == '.' && (is_name_part(peek(1))))) ++at_;
        else if (peek() == ':' && peek(1) == ':' && is_name_part(peek(2))) at_ += 2;
        else return TokenKind::Word;
      }
    }
    if (is_digit(c)) {
      for (; is_name_part(peek()) || (peek() == '.' && is_digit(peek(1))) ||
             ((peek() == '+' || peek() == '-') && is_decimal_exponent());
           ++at_) {
      }
      return TokenKind::Number;
    }
    ++at_;
    if (c == '.' && is_name_start(peek())) {
      while (is_name_part(peek())) ++at_;
      return TokenKind::Directive;
    }
    if (c == '"') {
      for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
        else if (text_[at_] == '"') return ++at_, TokenKind::String;
      }
      return TokenKind::Bad;
    }
    static constexpr std::string_view kPunctuation = ",;:{}()[]<>=|!+-*/@~&^?.";
    return kPunctuation.find(c) != std::string_view::npos && c != '\0' ? TokenKind::Punctuation : TokenKind::Bad;
  }

  // Just after the "e" of 1.5e+3; hexadecimal digits do not count.
  [[nodiscard]] bool is_decimal_exponent() const {
    if (at_ == 0 || (text_[at_ - 1] != 'e' && text_[at_ - 1] != 'E') || !is_digit(peek(1))) return false;
    bool point = false;
    for (std::size_t k = at_ - 1; k > 0 && (is_digit(text_[k - 1]) || text_[k - 1] == '.'); --k)
      point = point || text_[k - 1] == '.';
    return point;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0, comment_begin_ = 0;
  int line_ = 1;
};

std::optional<std::uint64_t> digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.size() == 10 && (text.starts_with("0f") || text.starts_with("0F"))) return digits(text.substr(2), 16);
  if (text.size() == 18 && (text.starts_with("0d") || text.starts_with("0D"))) return digits(text.substr(2), 16);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (!hex && text.find('.') != std::string_view::npos) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return std::bit_cast<std::uint64_t>(value);
  }
  if (text.ends_with('U')) text.remove_suffix(1);
  if (hex) return digits(text.substr(2), 16);
  if (text.starts_with("0b") || text.starts_with("0B")) return digits(text.substr(2), 2);
  if (text.size() > 1 && text[0] == '0') return digits(text.substr(1), 8);
  return digits(text, 10);
}

}  // namespace regduel::ir::ptx
