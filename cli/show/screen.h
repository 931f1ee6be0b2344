// What a campaign shows while it runs: on a terminal a screen that is drawn anew some times a second, else a line a minute and one
// a finding. Tested by screen_test.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>

#include "fuzz/campaign/report.h"

namespace regduel::cli {

// How a count grows.
class Growth {
 public:
  void add(double seconds, std::uint64_t count);
  [[nodiscard]] std::uint64_t in_last_minute() const;  // or since the first one

 private:
  std::deque<std::pair<double, std::uint64_t>> samples_;  // one a second; of a minute, and the last one before it
};

class Screen {
 public:
  //   is_quiet   nothing is shown
  explicit Screen(bool is_quiet = false);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  void show(const fuzz::CampaignStatus& status);

 private:
  void tell_new_findings(const fuzz::CampaignStatus& status);

  bool is_terminal_, is_quiet_, is_resumption_told_ = false;
  int lines_ = 0;  // drawn
  double last_line_ = 0, last_time_ = 0, rate_ = 0;
  std::uint64_t last_tried_ = 0;
  Growth growth_;
  std::set<std::string> told_;  // findings
};

// What takes so many lines, and what the terminal has echoed behind them, off the screen.
[[nodiscard]] std::string clearing(int lines);

// The screen as text, `width` columns at most a line; and the line.
//   rate   programs a second now
//   news   features that are new in the last minute
[[nodiscard]] std::string screen_text(const fuzz::CampaignStatus& status, double rate, std::uint64_t news, int width);
[[nodiscard]] std::string line_text(const fuzz::CampaignStatus& status, std::uint64_t news);

}  // namespace regduel::cli
