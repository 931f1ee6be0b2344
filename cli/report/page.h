// The page of a report: one HTML file that opens offline. page/ has its parts, which the build puts together
// (cmake/EmbedPage.cmake).
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace regduel::cli {

// The page with the document in it. No string of the document can end the element that it stands in. Bytes that are no UTF-8 become
// U+FFFD.
[[nodiscard]] std::string report_page(const nlohmann::ordered_json& document);

}  // namespace regduel::cli
