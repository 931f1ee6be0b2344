// What `regduel check` found, as text, Markdown, JUnit, SARIF and JSON. Tested by check_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/baseline.h"
#include "cli/show/json.h"

namespace regduel::cli {

enum class CheckOutcome { Same, Better, Worse, New, Fails };

struct CheckRow {
  BaselineKey key;
  std::string path;  // of the file, from the working directory
  CheckOutcome outcome = CheckOutcome::Same;
  std::string message;  // what is worse or better; "" where all is the same
  BaselineFigures before, now;
  std::string place;  // "a.cu:12:3", of the value that costs most; "" = not known
};

// Sets the outcome and the message by the figures: Worse where any has grown.
void hold(CheckRow& row);

// Rows that are not the same, and the sum.
[[nodiscard]] std::string check_text(const std::vector<CheckRow>& rows);
[[nodiscard]] std::string markdown_text(const std::vector<CheckRow>& rows);
// The format that JUnit's Ant task writes and CI systems read.
[[nodiscard]] std::string junit_text(const std::vector<CheckRow>& rows);
// SARIF 2.1.0 (OASIS), a result each row that fails the check.
[[nodiscard]] std::string sarif_text(const std::vector<CheckRow>& rows, std::string_view version);
[[nodiscard]] Json json_of(const std::vector<CheckRow>& rows, const std::vector<BaselineKey>& gone);

}  // namespace regduel::cli
