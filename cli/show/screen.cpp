// See screen.h.
#include "cli/show/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "cli/show/output.h"

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

// ", 1:20 left"; "" where the campaign has no end, or nothing tells yet how fast it is.
std::string left_text(const fuzz::CampaignStatus& s, double rate) {
  double left = -1;
  if (s.end > 0 && rate > 0) left = static_cast<double>(s.end - std::min(s.end, s.tried)) / rate;
  if (s.end_seconds > 0) left = std::min(left < 0 ? 1e12 : left, std::max(s.end_seconds - s.seconds, 0.0));
  return left < 0 ? "" : fmt::format(", {} left", time_text(left));
}

std::string workers_text(const fuzz::CampaignStatus& s) {
  std::string each;
  for (const std::uint64_t tried : s.tried_by) each += fmt::format("{}{}", each.empty() ? "" : " + ", tried);
  return each;
}

std::string counted(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace

void Growth::add(double seconds, std::uint64_t count) {
  if (!samples_.empty() && seconds - samples_.back().first < 1) return;
  samples_.emplace_back(seconds, count);
  while (samples_.size() > 2 && samples_[1].first <= seconds - 60) samples_.pop_front();
}
std::uint64_t Growth::in_last_minute() const {
  return samples_.empty() || samples_.back().second < samples_.front().second ? 0
                                                                              : samples_.back().second - samples_.front().second;
}

std::string screen_text(const fuzz::CampaignStatus& s, double rate, std::uint64_t news, int width) {
  std::vector<std::string> lines;
  const std::string of = s.end == 0 ? "" : fmt::format(" of {} ({})", s.end, percent(s.tried, s.end, 1));
  lines.push_back(fmt::format("regduel fuzz   {}{}   {}{}{}", time_text(s.seconds), left_text(s, rate),
                              counted(static_cast<std::uint64_t>(s.jobs), "worker", "workers"),
                              s.understanding > 0 ? fmt::format(", {} reducing", s.understanding) : "",
                              s.crashes > 0 ? fmt::format(", {} died", s.crashes) : ""));
  lines.push_back(fmt::format("  programs     {}{}, {:.0f}/s now, {:.0f}/s on average", s.tried, of, rate,
                              static_cast<double>(s.tried) / std::max(s.seconds, 0.001)));
  if (s.tried_by.size() > 1) lines.push_back(fmt::format("  each worker  {}", workers_text(s)));
  lines.push_back(fmt::format("  allocations  {} judged", s.allocations));
  if (s.features > 0 || s.seeds_left > 0)
    lines.push_back(fmt::format("  corpus       {} inputs, {} features, {} of them in the last minute{}{}", s.inputs, s.features,
                                news, edges_text(s), s.seeds_left > 0 ? fmt::format(", {} seeds to try", s.seeds_left) : ""));
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

std::string line_text(const fuzz::CampaignStatus& s, std::uint64_t news) {
  const double rate = static_cast<double>(s.tried) / std::max(s.seconds, 0.001);
  return fmt::format(
      "{}{}: {} programs ({:.0f}/s), {} inputs, {} features ({} new){}, {}{}\n", time_text(s.seconds), left_text(s, rate), s.tried,
      rate, s.inputs, s.features, news, edges_text(s), counted(s.found.size(), "finding", "findings"),
      s.crashes > 0 ? fmt::format(", {} died", counted(static_cast<std::uint64_t>(s.crashes), "worker", "workers")) : "");
}

Screen::Screen() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

Screen::~Screen() {
  if (lines_ > 0) fmt::print(stderr, "\033[{}A\033[J", lines_);
}

void Screen::tell_new_findings(const fuzz::CampaignStatus& s) {
  for (const fuzz::Found* f : s.found)
    if (told_.insert(f->failure.allocator + ": " + f->failure.signature).second)
      fmt::print(stderr, "{}: finding: {}: {}: {}\n", time_text(s.seconds), f->failure.allocator, f->failure.signature, f->message);
}

void Screen::show(const fuzz::CampaignStatus& s) {
  growth_.add(s.seconds, s.features);
  if (!is_terminal_) {
    tell_new_findings(s);
    if (s.seconds - last_line_ < kLineSeconds) return;
    last_line_ += kLineSeconds;
    fmt::print(stderr, "{}", line_text(s, growth_.in_last_minute()));
    return;
  }
  if (s.seconds - last_time_ < 0.4) return;
  const double now = static_cast<double>(s.tried - last_tried_) / (s.seconds - last_time_);
  rate_ = last_time_ == 0 ? now : 0.7 * rate_ + 0.3 * now;
  last_time_ = s.seconds;
  last_tried_ = s.tried;
  const std::string text = screen_text(s, rate_, growth_.in_last_minute(), columns());
  fmt::print(stderr, "{}{}", lines_ > 0 ? fmt::format("\033[{}A\033[J", lines_) : "", text);
  std::fflush(stderr);
  lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace regduel::cli
