// The words, numbers and strings of RIR text, one line at a time, for parse.cpp. Each function first skips space and comments,
// and throws a Fault if the text is not what it expects. Tested by text_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace regduel::ir {

// Thrown by the scanner and the parser, and caught by parse().
struct Fault {
  int line, column;
  std::string message;
};

[[nodiscard]] inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
[[nodiscard]] inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] char peek() const { return pos_ < end_ ? text_[pos_] : '\0'; }
  void skip_space();
  // Moves to the next line that is not empty.
  bool next_line();
  [[noreturn]] void fail_at(std::size_t pos, std::string message) const;
  // The text at a place, for messages.
  [[nodiscard]] std::string shown(std::size_t pos) const;
  [[noreturn]] void expected(std::string_view what) const;
  bool accept(char c);
  bool accept_arrow();
  void expect(char c, std::string_view what);
  std::string_view identifier();
  void expect_word(std::string_view word, std::string_view what);
  bool accept_word(std::string_view word);
  std::int64_t integer(std::string_view what);
  std::uint32_t number(std::string_view what, std::uint32_t low, std::uint32_t high);
  std::string string_literal();
  std::string name_or_string(std::string_view what);
  void end_line();
  [[nodiscard]] int first_column(int line) const;

 protected:
  std::string_view text_;
  std::size_t pos_ = 0, end_ = 0;  // in text_: where it reads, and the end of the line
  int line_ = 0;

 private:
  std::size_t next_ = 0, line_start_ = 0;  // of the next line and of this one
};

}  // namespace regduel::ir
