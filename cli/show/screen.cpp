// See screen.h.
#include "cli/show/screen.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/counted.h"
#include "cli/show/output.h"
#include "cli/show/terminal.h"
#include "duel/allocators.h"

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

std::string known_text(const fuzz::CampaignStatus& s) {
  return (s.known == 0 ? "" : fmt::format(", {} of earlier sessions", s.known)) +
         (s.observations == 0 ? "" : ", " + counted(s.observations, "observation"));
}

// "last feature 0:12 ago, last finding 1:03:00 ago": whether it is worth going on.
std::string ages_text(const fuzz::CampaignStatus& s) {
  const auto age = [&](std::string_view what, double last) {
    return last > 0 ? fmt::format("last {} {} ago", what, time_text(s.seconds - last)) : fmt::format("no new {}", what);
  };
  return age("feature", s.last_feature) + ", " + age("finding", s.last_finding);
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
  lines.push_back(fmt::format("regduel fuzz   {}{}   {}{}{}", time_text(s.seconds), left_text(s, rate), counted(s.jobs, "worker"),
                              s.understanding > 0 ? fmt::format(", {} reducing", s.understanding) : "",
                              s.crashes > 0 ? fmt::format(", {} died", s.crashes) : ""));
  lines.push_back(fmt::format("  programs     {}{}, {:.0f}/s now, {:.0f}/s on average", s.tried, of, rate,
                              static_cast<double>(s.tried) / std::max(s.seconds, 0.001)));
  if (s.tried_by.size() > 1) lines.push_back(fmt::format("  each worker  {}", workers_text(s)));
  lines.push_back(fmt::format("  allocations  {} judged", s.allocations));
  if (s.features > 0 || s.seeds_left > 0)
    lines.push_back(fmt::format("  corpus       {}, {}, {} of them in the last minute{}{}", counted(s.inputs, "input"),
                                counted(s.features, "feature"), news, edges_text(s),
                                s.seeds_left > 0 ? ", " + counted(s.seeds_left, "seed") + " to try" : ""));
  lines.push_back(fmt::format("  findings     {}{}{}{}", s.found.size(), known_text(s),
                              s.to_understand > 0 ? ", " + counted(s.to_understand, "case") + " to reduce" : "",
                              s.suppressed > 0 ? fmt::format(", {} suppressed", s.suppressed) : ""));
  for (std::size_t k = 0; k < std::min(s.found.size(), kMostFindings); ++k) {
    const fuzz::Found& f = *s.found[k];
    lines.push_back(fmt::format("    {:>6} x {:>5} instructions{}  {}: {}", f.count, f.instructions,
                                f.bucket.empty() ? " (not reduced)" : "", duel::shown_name(f.failure.allocator),
                                f.failure.signature));
  }
  if (s.found.size() > kMostFindings) lines.push_back(fmt::format("    ... and {} more", s.found.size() - kMostFindings));
  lines.push_back(fmt::format("  last news    {}", ages_text(s)));
  lines.push_back("  Ctrl-C ends it; all that was found is kept.");
  std::string out;
  for (const std::string& line : lines) out += line.substr(0, static_cast<std::size_t>(width)) + '\n';
  return out;
}

std::string line_text(const fuzz::CampaignStatus& s, std::uint64_t news) {
  const double rate = static_cast<double>(s.tried) / std::max(s.seconds, 0.001);
  return fmt::format("{}{}: {} ({:.0f}/s), {}, {} ({} new){}, {}{}, {}{}\n", time_text(s.seconds), left_text(s, rate),
                     counted(s.tried, "program"), rate, counted(s.inputs, "input"), counted(s.features, "feature"), news,
                     edges_text(s), counted(s.found.size(), "finding"), known_text(s), ages_text(s),
                     s.crashes > 0 ? fmt::format(", {} died", counted(s.crashes, "worker")) : "");
}

// The terminal may have echoed ^C, which moves the cursor to the right.
std::string clearing(int lines) { return lines > 0 ? fmt::format("\r\033[{}A\033[J", lines) : ""; }

Screen::Screen(bool is_quiet) : is_terminal_(is_drawing_terminal()), is_quiet_(is_quiet) {}

Screen::~Screen() { fmt::print(stderr, "{}", clearing(lines_)); }

void Screen::tell_new_findings(const fuzz::CampaignStatus& s) {
  for (const fuzz::Found* f : s.found)
    if (told_.insert(f->failure.allocator + ": " + f->failure.signature).second)
      fmt::print(stderr, "{}: finding: {}: {}: {}\n", time_text(s.seconds), duel::shown_name(f->failure.allocator),
                 f->failure.signature, f->message);
}

void Screen::show(const fuzz::CampaignStatus& s) {
  if (is_quiet_) return;
  growth_.add(s.seconds, s.features);
  if (!is_resumption_told_ && s.earlier != nullptr && s.earlier->sessions > 0)
    fmt::print(stderr, "{}\n", fuzz::text_of(*s.earlier));
  is_resumption_told_ = true;
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
  const std::string text = screen_text(s, rate_, growth_.in_last_minute(), terminal_columns(STDERR_FILENO));
  fmt::print(stderr, "{}{}", clearing(lines_), text);
  std::fflush(stderr);
  lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace regduel::cli
