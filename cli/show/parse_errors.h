// What is wrong with a text: each error with its line, and a caret under the place. Tested by parse_errors_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/source_error.h"

namespace regduel::cli {

inline constexpr int kMostParseErrors = 10;

// "a.rir:4:11: error: %7 is not declared", the line, and the caret; two lines more than to_string(), without a line break at the end.
[[nodiscard]] std::string with_line(const SourceError& error, std::string_view text);

// The first errors of a text whose lines stand for themselves. The parser stops at its first error: it is asked again without that line, and
// without those whose errors mention what such a line has declared.
//   parse   the error of a text, nullopt where there is none
// Cost: as many parses as there are errors reported or passed over, at most 4 x kMostParseErrors.
[[nodiscard]] std::string all_parse_errors(SourceError first, std::string text,
                                           const std::function<std::optional<SourceError>(const std::string& text)>& parse);

}  // namespace regduel::cli
