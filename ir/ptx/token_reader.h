// A cursor over the tokens of a PTX file, for the parser (parser.h), with constant expressions. The reader keeps the first error; a function
// that returns false has recorded one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/source_error.h"
#include "ir/ptx/lexer.h"

namespace regduel::ir::ptx {

class TokenReader {
 public:
  TokenReader(std::string_view text, std::string_view file_name)
      : text_(text), file_(file_name), lexer_(text), token_(lexer_.next()), after_(lexer_.next()) {}

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  // Requires failed().
  [[nodiscard]] const SourceError& error() const { return *error_; }
  bool fail(SourceError error) {
    if (!error_) error_ = std::move(error);
    return false;
  }
  bool fail(std::uint32_t offset, std::string message) {
    if (!error_) {
      const Place p = place_in(text_, offset);
      error_ = SourceError{std::string(file_), p.line, p.column, std::move(message)};
    }
    return false;
  }
  bool fail(const Token& at, std::string message) { return fail(offset(at), std::move(message)); }
  bool expected(std::string_view what) { return fail(token_, fmt::format("expected {}, found {}", what, shown(token_))); }
  static std::string shown(const Token& t);

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const Token& tok() const { return token_; }
  [[nodiscard]] const Token& tok_after() const { return after_; }
  [[nodiscard]] std::uint32_t offset(const Token& t) const { return static_cast<std::uint32_t>(t.text.data() - text_.data()); }
  void next() {
    token_ = after_;
    after_ = lexer_.next();
  }
  [[nodiscard]] bool at_end() const { return token_.kind == TokenKind::End || token_.kind == TokenKind::Bad; }
  bool accept(char c) {
    if (!token_.is(c)) return false;
    next();
    return true;
  }
  bool expect(char c) { return accept(c) || expected(fmt::format("'{}'", c)); }
  // A literal, not an expression.
  std::optional<std::uint64_t> number(std::string_view what);

  // An expression of numbers as in C, with 64-bit integers, `.s64` and `.u64` as types that a value is cast to, and WARP_SZ.
  bool constant(Number& result) { return conditional(result, 0); }
  // A number, or a constant with a sign or parentheses before it: what a `+` may stand behind.
  [[nodiscard]] bool begins_constant() const {
    return token_.kind == TokenKind::Number || token_.is('(') || token_.is('-') || token_.is('+') || token_.is('~') ||
           token_.is('!');
  }
  // The rest of an expression that begins with this value.
  bool constant_from(Number& result) { return binary(result, 0, 0) && conditional_rest(result, 0); }
  // Any number of "+ N" and "- N", "+-N" too, N being a constant without a weaker operator.
  bool offsets(std::uint64_t& sum);

  // Up to the end of the line on which `first` stands.
  void skip_line(const Token& first);
  // Skips a bracket, its matching closing one, and all tokens between them.
  bool skip_group(char open, char close);
  bool skip_to_semicolon();

 private:
  static constexpr int kMaxNesting = 200;

  bool conditional(Number& result, int depth);
  bool conditional_rest(Number& result, int depth);
  bool binary(Number& left, int least, int depth);
  bool unary(Number& result, int depth);
  // The binary operator at hand and how tightly it binds, 0 = none; its length is 1 or 2 tokens.
  [[nodiscard]] std::pair<int, char> binary_operator() const;
  bool apply(char op, Number& left, const Number& right, const Token& at);

  std::string_view text_;
  std::string_view file_;
  Lexer lexer_;
  Token token_, after_;
  std::optional<SourceError> error_;
};

}  // namespace regduel::ir::ptx
