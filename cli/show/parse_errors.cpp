// See parse_errors.h.
#include "cli/show/parse_errors.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

namespace regduel::cli {
namespace {

constexpr std::size_t kMostColumns = 160;  // of a line that is shown

// Where the line begins and ends (without its line break); both the end of the text where there is none.
std::pair<std::size_t, std::size_t> bounds_of(std::string_view text, int line) {
  std::size_t begin = 0;
  for (int k = 1; k < line && begin < text.size(); ++k) begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  return {begin, std::min(text.find('\n', begin), text.size())};
}

// Names as they stand in a program: %3, @f, b2, #7.
std::set<std::string> names_in(std::string_view line) {
  std::set<std::string> names;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const bool begins = line[k] == '%' || line[k] == '@' || line[k] == '#' || (line[k] == 'b' && (k == 0 || line[k - 1] == ' '));
    if (!begins) continue;
    std::size_t end = k + 1;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
    if (end > k + 1) names.emplace(line.substr(k, end - k));
  }
  return names;
}

}  // namespace

std::string with_line(const SourceError& e, std::string_view text) {
  if (e.line == 0) return to_string(e);
  const auto [begin, end] = bounds_of(text, e.line);
  const std::string number = fmt::format("{:>5}", e.line);
  std::string line(text.substr(begin, std::min(end - begin, kMostColumns)));
  std::string before = line.substr(0, static_cast<std::size_t>(std::max(e.column - 1, 0)));
  for (char& c : before)
    if (c != '\t') c = ' ';
  std::string shown = fmt::format("{}\n{} | {}", to_string(e), number, line);
  if (e.column > 0 && before.size() < kMostColumns) shown += fmt::format("\n{} | {}^", std::string(number.size(), ' '), before);
  return shown;
}

std::string all_parse_errors(SourceError first, std::string text,
                             const std::function<std::optional<SourceError>(const std::string& text)>& parse) {
  const std::string whole = text;
  std::string said;
  std::set<std::string> lost;  // names that lines left out may have declared
  std::optional<SourceError> error = std::move(first);
  int reported = 0, last = 0;
  // An error before the last one comes of what was left out: a block without instructions, say.
  for (int tries = 0; error && error->line >= last && tries < 4 * kMostParseErrors; ++tries) {
    last = error->line;
    const std::set<std::string> mentioned = names_in(error->message);
    const bool follows = std::ranges::any_of(mentioned, [&](const std::string& name) { return lost.contains(name); });
    if (!follows) {
      if (reported++ == kMostParseErrors) return said + "\n(there are more errors)";
      said += (said.empty() ? "" : "\n") + with_line(*error, whole);
    }
    const auto [begin, end] = bounds_of(text, error->line);
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (error->line == 0 || line.find_first_not_of(' ') == std::string_view::npos || line.starts_with("rir ") ||
        line.starts_with("func "))
      break;  // what comes behind depends on it
    lost.merge(names_in(line));
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    error = parse(text);
  }
  return said;
}

}  // namespace regduel::cli
