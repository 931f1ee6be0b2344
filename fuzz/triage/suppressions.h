// Known findings that a campaign goes past: a file of lines
//
//   ALLOCATOR SIGNATURE until YYYY-MM-DD  # why
//
// with * for any characters in the first two. A suppression ends with its day: then the finding is one again, so that none is
// forgotten. Tested by suppressions_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source_error.h"
#include "fuzz/triage/failure.h"

namespace regduel::fuzz {

struct Suppression {
  std::string allocator, signature;  // with *
  std::string until;                 // the last day, YYYY-MM-DD
  int line = 0;
};

[[nodiscard]] Parsed<std::vector<Suppression>> parse_suppressions(std::string_view text, std::string_view file_name);

// Whether one of them covers the failure on this day (YYYY-MM-DD).
[[nodiscard]] bool is_suppressed(const std::vector<Suppression>& list, const Failure& failure, std::string_view today);
// The suppressions that have ended before this day.
[[nodiscard]] std::vector<Suppression> expired(const std::vector<Suppression>& list, std::string_view today);

}  // namespace regduel::fuzz
