// See scanner.h.

#include "ir/text/scanner.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace regduel::ir {

void Scanner::skip_space() {
  while (pos_ < end_ && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\r')) ++pos_;
  if (pos_ + 1 < end_ && text_[pos_] == '/' && text_[pos_ + 1] == '/') pos_ = end_;
}

bool Scanner::next_line() {
  while (next_ < text_.size()) {
    line_start_ = next_;
    pos_ = next_;
    const std::size_t newline = text_.find('\n', next_);
    end_ = newline == std::string_view::npos ? text_.size() : newline;
    next_ = newline == std::string_view::npos ? text_.size() : newline + 1;
    ++line_;
    skip_space();
    if (pos_ < end_) return true;
  }
  return false;
}

void Scanner::fail_at(std::size_t pos, std::string message) const {
  throw Fault{line_, static_cast<int>(pos - line_start_) + 1, std::move(message)};
}

std::string Scanner::shown(std::size_t pos) const {
  if (pos >= end_) return "the end of the line";
  std::size_t stop = pos + 1;
  const auto word_char = [&](char c) { return is_letter(c) || is_digit(c) || c == '.'; };
  if (word_char(text_[pos]))
    while (stop < end_ && word_char(text_[stop]) && stop - pos < 24) ++stop;
  std::string out = "'";
  for (const char c : text_.substr(pos, stop - pos))
    out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F
               ? fmt::format("\\x{:02X}", static_cast<unsigned char>(c))
               : std::string(1, c);
  return out + "'";
}

void Scanner::expected(std::string_view what) const { fail_at(pos_, fmt::format("expected {}, found {}", what, shown(pos_))); }

bool Scanner::accept(char c) {
  skip_space();
  if (peek() != c || pos_ >= end_) return false;
  ++pos_;
  return true;
}

bool Scanner::accept_arrow() {
  skip_space();
  if (!text_.substr(pos_, end_ - pos_).starts_with("->")) return false;
  pos_ += 2;
  return true;
}

void Scanner::expect(char c, std::string_view what) {
  if (!accept(c)) expected(what);
}

std::string_view Scanner::identifier() {
  skip_space();
  const std::size_t start = pos_;
  if (pos_ < end_ && is_letter(text_[pos_]))
    while (pos_ < end_ && (is_letter(text_[pos_]) || is_digit(text_[pos_]))) ++pos_;
  return text_.substr(start, pos_ - start);
}

void Scanner::expect_word(std::string_view word, std::string_view what) {
  skip_space();
  const std::size_t at = pos_;
  if (identifier() != word) {
    pos_ = at;
    expected(what);
  }
}

bool Scanner::accept_word(std::string_view word) {
  skip_space();
  const std::size_t at = pos_;
  if (identifier() == word) return true;
  pos_ = at;
  return false;
}

std::int64_t Scanner::integer(std::string_view what) {
  skip_space();
  const std::size_t start = pos_;
  const bool negative = peek() == '-';
  std::size_t at = pos_ + (negative ? 1 : 0);
  int base = 10;
  if (at + 1 < end_ && text_[at] == '0' && (text_[at + 1] == 'x' || text_[at + 1] == 'X')) {
    base = 16;
    at += 2;
  }
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text_.data() + at, text_.data() + end_, value, base);
  if (error == std::errc::invalid_argument) expected(what);
  const std::uint64_t most = negative ? std::uint64_t{1} << 63 : base == 16 ? ~std::uint64_t{0} : (std::uint64_t{1} << 63) - 1;
  if (error != std::errc() || value > most) fail_at(start, "the number does not fit 64 bits");
  pos_ = static_cast<std::size_t>(stop - text_.data());
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::uint32_t Scanner::number(std::string_view what, std::uint32_t low, std::uint32_t high) {
  skip_space();
  const std::size_t at = pos_;
  const std::int64_t value = integer(what);
  if (value < low || value > high) fail_at(at, fmt::format("expected {} from {} to {}, found {}", what, low, high, value));
  return static_cast<std::uint32_t>(value);
}

std::string Scanner::string_literal() {
  expect('"', "a string");
  std::string out;
  while (pos_ < end_ && text_[pos_] != '"') {
    char c = text_[pos_++];
    if (c == '\\') {
      const std::size_t at = pos_ - 1;
      const char e = pos_ < end_ ? text_[pos_++] : '\0';
      if (e == 'n') c = '\n';
      else if (e == 't') c = '\t';
      else if (e == '"' || e == '\\') c = e;
      else if (e == 'x' && pos_ + 2 <= end_) {
        unsigned value = 0;
        const auto [stop, error] = std::from_chars(text_.data() + pos_, text_.data() + pos_ + 2, value, 16);
        if (error != std::errc() || stop != text_.data() + pos_ + 2) fail_at(at, "expected two hexadecimal digits after \\x");
        c = static_cast<char>(value);
        pos_ += 2;
      } else {
        fail_at(at, "expected one of \\\" \\\\ \\n \\t \\xHH");
      }
    }
    out += c;
  }
  if (pos_ >= end_) expected("a closing '\"'");
  ++pos_;
  return out;
}

std::string Scanner::name_or_string(std::string_view what) {
  skip_space();
  if (peek() == '"') return string_literal();
  const std::size_t start = pos_;
  while (pos_ < end_ && (is_letter(text_[pos_]) || is_digit(text_[pos_]) || text_[pos_] == '$' || text_[pos_] == '.')) ++pos_;
  if (pos_ == start) expected(what);
  return std::string(text_.substr(start, pos_ - start));
}

void Scanner::end_line() {
  skip_space();
  if (pos_ < end_) expected("the end of the line");
}

int Scanner::first_column(int line) const {
  std::size_t start = 0;
  for (int l = 1; l < line; ++l) start = text_.find('\n', start) + 1;
  std::size_t at = start;
  while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
  return static_cast<int>(at - start) + 1;
}

}  // namespace regduel::ir
