// See page.h.
#include "cli/report/page.h"

#include <string_view>

#include "base/check_macro.h"
#include "report_page.h"

namespace regduel::cli {

std::string report_page(const nlohmann::ordered_json& document) {
  static constexpr std::string_view kPlace = "{\"document\":null}";
  const std::string_view page(reinterpret_cast<const char*>(kReportPage), sizeof kReportPage);
  const std::size_t at = page.find(kPlace);
  REGDUEL_CHECK(at != std::string_view::npos, "the page has no place for the document");
  std::string out(page.substr(0, at));
  // In JSON a < stands in strings only.
  for (const char c : document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
    if (c == '<') out += "\\u003c";
    else out += c;
  out += page.substr(at + kPlace.size());
  return out;
}

}  // namespace regduel::cli
