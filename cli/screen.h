// What a campaign shows while it runs: on a terminal a screen that is drawn anew some times a second, else a line a minute.
#pragma once

#include <string>

#include "fuzz/campaign/report.h"

namespace regduel::cli {

class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  void show(const fuzz::CampaignStatus& status);

 private:
  bool is_terminal_;
  int lines_ = 0;  // drawn
  double last_line_ = 0, last_time_ = 0, rate_ = 0;
  std::uint64_t last_tried_ = 0;
};

// The screen as text, `width` columns at most a line; and the line.
[[nodiscard]] std::string screen_text(const fuzz::CampaignStatus& status, double rate, int width);
[[nodiscard]] std::string line_text(const fuzz::CampaignStatus& status);

}  // namespace regduel::cli
