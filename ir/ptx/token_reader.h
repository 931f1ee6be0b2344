// A cursor over the tokens of a PTX file, for the parser in syntax.cpp. The reader keeps the first error; a function that returns
// false has recorded one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/source_error.h"
#include "ir/ptx/lexer.h"

namespace regduel::ir::ptx {

class TokenReader {
 public:
  TokenReader(std::string_view text, std::string_view file_name) : file_(file_name), tokens_(tokenize(text)) {}

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  // Requires failed().
  [[nodiscard]] const SourceError& error() const { return *error_; }
  bool fail(Place p, std::string message) {
    if (!error_) error_ = SourceError{std::string(file_), p.line, p.column, std::move(message)};
    return false;
  }
  [[nodiscard]] const Token& tok(std::size_t k = 0) const { return tokens_[std::min(at_ + k, tokens_.size() - 1)]; }
  void next() { at_ = std::min(at_ + 1, tokens_.size() - 1); }
  static std::string shown(const Token& t) {
    if (t.kind == TokenKind::End) return "the end of the file";
    if (t.kind == TokenKind::String) return "a string";
    if (t.kind == TokenKind::Bad && t.text.starts_with('"')) return "a string without its end";
    if (t.kind == TokenKind::Bad && t.text.size() > 1) return "a comment without its end";
    if (t.kind == TokenKind::Bad && (t.text[0] < ' ' || t.text[0] > '~'))
      return fmt::format("the byte 0x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(t.text[0])));
    return fmt::format("'{}'", t.text);
  }
  bool expected(std::string_view what) { return fail(tok().place, fmt::format("expected {}, found {}", what, shown(tok()))); }
  bool accept(char c) {
    if (!tok().is(c)) return false;
    next();
    return true;
  }
  bool expect(char c) { return accept(c) || expected(fmt::format("'{}'", c)); }
  std::optional<std::uint64_t> number(std::string_view what) {
    if (tok().kind != TokenKind::Number) return expected(what), std::nullopt;
    const auto value = parse_number(tok().text);
    if (!value) return fail(tok().place, fmt::format("'{}' is no number of at most 64 bits", tok().text)), std::nullopt;
    next();
    return value;
  }
  void skip_line() { skip_line(tok().place.line); }
  void skip_line(int line) {
    while (tok().kind != TokenKind::End && tok().kind != TokenKind::Bad && tok().place.line == line) next();
  }
  // Skips a bracket, its matching closing one, and all tokens between them.
  bool skip_group(char open, char close) {
    const Token opening = tok();
    for (std::size_t depth = 0;; next()) {
      if (tok().kind == TokenKind::Bad) return expected("a token");
      if (tok().kind == TokenKind::End) return fail(opening.place, fmt::format("'{}' has no '{}'", open, close));
      if (tok().is(open)) ++depth;
      if (tok().is(close) && --depth == 0) return next(), true;
    }
  }
  bool skip_to_semicolon() {
    while (!tok().is(';')) {
      if (tok().kind == TokenKind::End || tok().kind == TokenKind::Bad) return expected("';'");
      next();
    }
    return next(), true;
  }

 private:
  std::string_view file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::optional<SourceError> error_;
};

}  // namespace regduel::ir::ptx
