// See xml.h.
#include "cli/show/xml.h"

#include <fmt/format.h>

namespace regduel::cli {

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (byte < 0x20 && c != '\n' && c != '\t') out += '?';
    else out += c;
  }
  return out;
}

std::string junit_document(std::string_view suite, std::size_t tests, std::size_t failures, const std::string& cases) {
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\"", tests, failures);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n  <testsuite name=\"{}\" {}>\n{}  "
      "</testsuite>\n</testsuites>\n",
      counts, xml_escaped(suite), counts, cases);
}

}  // namespace regduel::cli
