// XML as test reports have it. Tested by check_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace regduel::cli {

// Text as the contents of an element or an attribute; characters that XML does not have become "?".
[[nodiscard]] std::string xml_escaped(std::string_view text);

// The whole of a test report.
//   cases   its elements <testcase>, each on lines of its own, indented by four
[[nodiscard]] std::string junit_document(std::string_view suite, std::size_t tests, std::size_t failures, const std::string& cases);

}  // namespace regduel::cli
