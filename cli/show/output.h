// What the commands show: a progress line on a terminal, aligned tables (diagnostic.h: findings).
#pragma once

#include <chrono>
#include <concepts>
#include <string>
#include <vector>

#include "cli/show/json.h"
#include "ir/program.h"
#include "oracles/judge.h"
#include "oracles/metamorphic/metamorphic.h"

namespace regduel::cli {

// A line on stderr that is rewritten a few times a second, only where stderr is a terminal.
class Progress {
 public:
  // total 0 = unknown
  Progress(std::string label, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step(std::int64_t n = 1, const std::string& extra = "");
  void done();                        // clears the line
  void say(const std::string& text);  // on standard output, with the line out of its way

 private:
  std::string label_;
  std::int64_t total_, at_ = 0;
  bool shown_ = false, is_terminal_;
  std::chrono::steady_clock::time_point start_, last_;
};

// The text with lines broken between words, none wider than so many columns where words allow it; 0 = as it is.
[[nodiscard]] std::string wrapped(const std::string& text, int columns);
// At most so many columns (of bytes), cut with "..."; 0 = as it is.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t columns);

// "12.5%" with one digit; "-" where the whole is 0.
[[nodiscard]] std::string percent_of(double part, double whole, int digits);
[[nodiscard]] std::string percent(std::integral auto part, std::integral auto whole, int digits) {
  return percent_of(static_cast<double>(part), static_cast<double>(whole), digits);
}

// Neighbouring columns, and what they have in common: a line above the head; empty = nothing.
struct ColumnGroup {
  std::string title;
  std::vector<std::string> head;
};

// Columns are aligned: the first `left_columns` to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head, int left_columns = 1);
  [[nodiscard]] static Table grouped(std::vector<ColumnGroup> groups, int left_columns = 1);
  void row(std::vector<std::string> cells);
  void rule();  // a line between rows
  [[nodiscard]] std::string text() const;
  // As wide as it may be at most (0 = any width): else with its rows as columns, if that fits better; else without columns named in
  // `droppable`, one after the other.
  [[nodiscard]] std::string text_within(int columns, const std::vector<std::string>& droppable = {}) const;
  // What has not been told yet, in columns that are at least so wide: each row as soon as it is there, the columns of all under one
  // another where `widest` (in any of the rows to come, or empty) is known.
  [[nodiscard]] std::string next(const std::vector<std::string>& widest);

 private:
  [[nodiscard]] std::string text_from(std::size_t first, std::vector<std::size_t> width) const;
  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] Table transposed() const;
  void drop(std::string_view column);
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
  std::size_t left_, told_ = 0;
  std::vector<std::size_t> told_width_;
};

[[nodiscard]] Json to_json(const oracles::Finding& f, const ir::Function& after);
[[nodiscard]] Json to_json(const oracles::Report& r, const ir::Function& after);
[[nodiscard]] Json to_json(const oracles::MetamorphicResult& r, const ir::Function& after);

}  // namespace regduel::cli
