// See words.h.
#include "duel/exec/words.h"

#include <algorithm>

namespace regduel::duel {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+=:,./@%").find(c) != std::string_view::npos;
}

// Reads text character by character, and knows which quote each of them stands in.
class QuoteReader {
 public:
  // Adds to `out` what `c` adds to its word: nothing, where it only quotes.
  void take(char c, std::string& out) {
    if (is_escaped_) {
      if (quote_ == '"' && std::string_view("\"\\$`").find(c) == std::string_view::npos) out += '\\';
      is_escaped_ = false;
      out += c;
    } else if (c == '\\' && quote_ != '\'') {
      is_escaped_ = true;
    } else if (quote_ == 0 && (c == '\'' || c == '"')) {
      quote_ = c;
    } else if (quote_ != 0 && c == quote_) {
      quote_ = 0;
    } else {
      out += c;
    }
  }
  [[nodiscard]] bool is_quoting() const { return quote_ != 0 || is_escaped_; }

 private:
  char quote_ = 0;
  bool is_escaped_ = false;
};

std::string in_double_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::optional<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  QuoteReader reader;
  bool is_in_word = false;
  for (const char c : text) {
    if (!reader.is_quoting() && kBlanks.find(c) != std::string_view::npos) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    reader.take(c, words.back());
  }
  if (reader.is_quoting()) return std::nullopt;
  return words;
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string out = "'";
  for (const char c : word)
    if (c == '\'') out += "'\\''";
    else out += c;
  return out + "'";
}

std::vector<std::string> split_items(std::string_view list) {
  std::vector<std::string> items(1);
  QuoteReader reader;
  std::string word;
  for (const char c : list) {
    if (c == ',' && !reader.is_quoting()) {
      items.emplace_back();
      continue;
    }
    reader.take(c, word);
    items.back() += c;
  }
  std::erase(items, "");
  return items;
}

std::size_t command_in(std::string_view name) {
  std::size_t at = 0;
  while (!name.substr(at).starts_with(kExec)) {
    at = name.find('+', at);
    if (at == std::string_view::npos) return at;
    ++at;
  }
  return at + kExec.size();
}

std::string name_of_item(std::string_view item) {
  const std::size_t at = command_in(item);
  if (at == std::string_view::npos) return std::string(item);
  const std::string_view command = item.substr(at);
  const auto words = split_words(command);
  const bool is_quoted = command.starts_with('\'') || command.starts_with('"');
  if (!is_quoted || !words || words->size() != 1 || words->front().find_first_of(kBlanks) == std::string::npos)
    return std::string(item);
  return std::string(item.substr(0, at)) + words->front();
}

std::string item_of_name(std::string_view name) {
  if (split_items(name).size() == 1 && name_of_item(name) == name) return std::string(name);
  const std::size_t at = command_in(name);
  if (at == std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, at)) + in_double_quotes(name.substr(at));
}

}  // namespace regduel::duel
