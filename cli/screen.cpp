// See screen.h.
#include "cli/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "cli/output.h"

namespace regduel::cli {
namespace {

constexpr double kLineSeconds = 60;
constexpr std::size_t kMostFindings = 8;

std::string time_text(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60) : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string edges_text(const fuzz::CampaignStatus& s) {
  return s.all_edges == 0 ? "" : fmt::format(", {} of {} edges ({})", s.edges, s.all_edges, percent(s.edges, s.all_edges, 1));
}

int columns() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

std::string screen_text(const fuzz::CampaignStatus& s, double rate, int width) {
  std::vector<std::string> lines;
  const std::string of = s.end == 0 ? "" : fmt::format(" of {} ({})", s.end, percent(s.tried, s.end, 1));
  lines.push_back(fmt::format("regduel fuzz   {}   {} workers{}{}", time_text(s.seconds), s.jobs,
                              s.understanding > 0 ? fmt::format(", {} reducing", s.understanding) : "",
                              s.crashes > 0 ? fmt::format(", {} died", s.crashes) : ""));
  lines.push_back(fmt::format("  programs     {}{}, {:.0f}/s now, {:.0f}/s on average", s.tried, of, rate,
                              static_cast<double>(s.tried) / std::max(s.seconds, 0.001)));
  lines.push_back(fmt::format("  allocations  {} judged", s.allocations));
  if (s.features > 0 || s.seeds_left > 0)
    lines.push_back(fmt::format("  corpus       {} inputs, {} features{}{}", s.inputs, s.features, edges_text(s),
                                s.seeds_left > 0 ? fmt::format(", {} seeds to try", s.seeds_left) : ""));
  lines.push_back(fmt::format("  findings     {}{}{}", s.found.size(),
                              s.to_understand > 0 ? fmt::format(", {} cases to reduce", s.to_understand) : "",
                              s.suppressed > 0 ? fmt::format(", {} suppressed", s.suppressed) : ""));
  for (std::size_t k = 0; k < std::min(s.found.size(), kMostFindings); ++k) {
    const fuzz::Found& f = *s.found[k];
    lines.push_back(fmt::format("    {:>6} x {:>5} instructions{}  {}: {}", f.count, f.instructions,
                                f.bucket.empty() ? " (not reduced)" : "", f.failure.allocator, f.failure.signature));
  }
  if (s.found.size() > kMostFindings) lines.push_back(fmt::format("    ... and {} more", s.found.size() - kMostFindings));
  lines.push_back("  Ctrl-C ends it; all that was found is kept.");
  std::string out;
  for (const std::string& line : lines) out += line.substr(0, static_cast<std::size_t>(width)) + '\n';
  return out;
}

std::string line_text(const fuzz::CampaignStatus& s) {
  return fmt::format("{} {} programs ({:.0f}/s), {} inputs, {} features{}, {} findings{}\n", time_text(s.seconds), s.tried,
                     static_cast<double>(s.tried) / std::max(s.seconds, 0.001), s.inputs, s.features, edges_text(s), s.found.size(),
                     s.crashes > 0 ? fmt::format(", {} workers died", s.crashes) : "");
}

Screen::Screen() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

Screen::~Screen() {
  if (lines_ > 0) fmt::print(stderr, "\033[{}A\033[J", lines_);
}

void Screen::show(const fuzz::CampaignStatus& s) {
  if (!is_terminal_) {
    if (s.seconds - last_line_ < kLineSeconds) return;
    last_line_ += kLineSeconds;
    fmt::print(stderr, "{}", line_text(s));
    return;
  }
  if (s.seconds - last_time_ < 0.4) return;
  const double now = static_cast<double>(s.tried - last_tried_) / (s.seconds - last_time_);
  rate_ = last_time_ == 0 ? now : 0.7 * rate_ + 0.3 * now;
  last_time_ = s.seconds;
  last_tried_ = s.tried;
  const std::string text = screen_text(s, rate_, columns());
  fmt::print(stderr, "{}{}", lines_ > 0 ? fmt::format("\033[{}A\033[J", lines_) : "", text);
  std::fflush(stderr);
  lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace regduel::cli
