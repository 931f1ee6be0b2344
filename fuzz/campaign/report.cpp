// See report.h. Tested by cli_test.cpp.
#include "fuzz/campaign/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "duel/allocators.h"

namespace regduel::fuzz {

std::string text_of(const Earlier& e) {
  if (e.sessions == 0) return "";
  std::string text = fmt::format("resumed: session {}, {}, {}, {} not understood yet", e.sessions + 1,
                                 counted(e.programs, "program"), counted(e.findings, "finding"), counted(e.not_understood, "case"));
  if (!e.absent.empty())
    text += fmt::format("; {} of {}, not in this session, left alone", counted(e.left_alone, "case"), fmt::join(e.absent, ", "));
  return text;
}

std::string text_of(const std::vector<Found>& found, std::string_view what) {
  std::string out;
  for (const Found& f : found) {
    out += fmt::format("{}: {} in {} ({} {})\n  {}\n", what, f.failure.signature, duel::shown_name(f.failure.allocator), f.count,
                       f.bucket.empty() ? "cases, not reduced"
                       : f.count == 1   ? "case"
                                        : "cases",
                       f.message.empty() ? "found by an earlier session" : f.message);
    if (!f.bucket.empty())
      out += fmt::format("  reduced to {}{}\n", counted(f.instructions, "instruction"),
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
