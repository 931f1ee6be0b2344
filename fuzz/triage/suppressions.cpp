// See suppressions.h.
#include "fuzz/triage/suppressions.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace regduel::fuzz {
namespace {

struct Word {
  std::string text;
  int column = 0;
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < line.size() && line[at] != '#';) {
    const std::size_t end = std::min(line.find_first_of(" \t\r#", at), line.size());
    if (end > at) words.push_back({std::string(line.substr(at, end - at)), static_cast<int>(at) + 1});
    at = end < line.size() && line[end] != '#' ? end + 1 : end;
  }
  return words;
}

bool is_date(std::string_view s) {
  if (s.size() != 10 || s[4] != '-' || s[7] != '-') return false;
  int number[3] = {};
  constexpr std::size_t kFirst[] = {0, 5, 8}, kLength[] = {4, 2, 2};
  for (std::size_t part = 0; part < 3; ++part)
    for (const char c : s.substr(kFirst[part], kLength[part])) {
      if (c < '0' || c > '9') return false;
      number[part] = number[part] * 10 + (c - '0');
    }
  return std::chrono::year_month_day(std::chrono::year(number[0]), std::chrono::month(static_cast<unsigned>(number[1])),
                                     std::chrono::day(static_cast<unsigned>(number[2])))
      .ok();
}

bool matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace

Parsed<std::vector<Suppression>> parse_suppressions(std::string_view text, std::string_view file_name) {
  std::vector<Suppression> list;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<Word> words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (words.empty()) continue;
    const auto error = [&](std::size_t k, std::string_view expected) {
      const int column = k < words.size() ? words[k].column : words.back().column + static_cast<int>(words.back().text.size());
      return std::unexpected(
          SourceError{std::string(file_name), number, column,
                      fmt::format("expected {}, found {}", expected, k < words.size() ? words[k].text : "the end of the line")});
    };
    if (words.size() < 2) return error(1, "a signature: ALLOCATOR SIGNATURE until YYYY-MM-DD");
    if (words.size() < 3 || words[2].text != "until") return error(2, "\"until\"");
    if (words.size() < 4 || !is_date(words[3].text)) return error(3, "a date, YYYY-MM-DD");
    if (words.size() > 4) return error(4, "the end of the line, or # and a reason");
    list.push_back({words[0].text, words[1].text, words[3].text, number});
  }
  return list;
}

bool is_suppressed(const std::vector<Suppression>& list, const Failure& failure, std::string_view today) {
  return std::any_of(list.begin(), list.end(), [&](const Suppression& s) {
    return today <= s.until && matches(s.allocator, failure.allocator) && matches(s.signature, failure.signature);
  });
}

std::vector<Suppression> expired(const std::vector<Suppression>& list, std::string_view today) {
  std::vector<Suppression> old;
  std::copy_if(list.begin(), list.end(), std::back_inserter(old), [&](const Suppression& s) { return today > s.until; });
  return old;
}

}  // namespace regduel::fuzz
