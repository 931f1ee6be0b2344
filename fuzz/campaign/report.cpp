// See report.h. Tested by cli_test.cpp.
#include "fuzz/campaign/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace regduel::fuzz {

std::string text_of(const std::vector<Found>& found) {
  std::string out;
  for (const Found& f : found) {
    out += fmt::format("finding: {} in {} ({} {})\n  {}\n", f.failure.signature, f.failure.allocator, f.count,
                       f.bucket.empty() ? "cases, not reduced"
                       : f.count == 1   ? "case"
                                        : "cases",
                       f.message.empty() ? "found by an earlier session" : f.message);
    if (!f.bucket.empty())
      out += fmt::format("  reduced to {} instructions{}\n", f.instructions,
                         f.decision.empty() ? "" : fmt::format("; the first bad decision: {}", f.decision));
    if (!f.path.empty()) out += fmt::format("  replay: see the head of {}\n", f.path);
  }
  return out;
}

nlohmann::ordered_json json_of(const std::vector<Found>& found) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Found& f : found)
    list.push_back({{"signature", f.failure.signature},
                    {"allocator", f.failure.allocator},
                    {"count", f.count},
                    {"message", f.message},
                    {"reproducer", f.path},
                    {"bucket", f.bucket},
                    {"decision", f.decision},
                    {"state", f.bucket.empty() ? "crashing" : f.state},
                    {"instructions", f.instructions}});
  return list;
}

}  // namespace regduel::fuzz
