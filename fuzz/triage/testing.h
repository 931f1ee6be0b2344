// For the tests of triage: cases from their text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "duel/case_file.h"

namespace regduel::fuzz {

// Of a value that is wrong.
inline constexpr const char* kFailing = "memcheck/memcheck-6-extra-defs-introduced@op:use";

// The kernel of that body.
//   head   lines of a case file in front of it: "// limit: R=8\n"
inline duel::Case case_of(const std::string& body, std::string_view head = "") {
  auto c = duel::parse_case(std::string(head) + "rir 1\nfunc @f kernel target sm_90 threads 32\n" + body);
  if (!c) {
    ADD_FAILURE() << to_string(c.error()) << body;
    return {};
  }
  return std::move(*c);
}

}  // namespace regduel::fuzz
