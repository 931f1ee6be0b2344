#include "llvm/compile/database.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

namespace regduel::llvm {
namespace {

namespace fs = std::filesystem;

// Words of a command as a shell reads them: quotes and backslashes, nothing else.
std::vector<std::string> shell_words(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;
  char quote = 0;
  for (std::size_t k = 0; k < command.size(); ++k) {
    const char c = command[k];
    if (c == '\\' && quote != '\'' && k + 1 < command.size()) {
      word += command[++k], is_open = true;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
      else word += c;
    } else if (c == '"' || c == '\'') {
      quote = c, is_open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (is_open) words.push_back(std::move(word)), word.clear(), is_open = false;
    } else {
      word += c, is_open = true;
    }
  }
  if (is_open) words.push_back(std::move(word));
  return words;
}

std::string absolute(const fs::path& folder, const std::string& path) { return (folder / path).lexically_normal().string(); }

std::vector<std::string> kept(const std::vector<std::string>& words, const fs::path& folder) {
  constexpr std::array paths = {"-I", "-isystem", "-iquote", "-include"};
  constexpr std::array others = {"-D", "-U", "-std=", "-f", "-m"};
  std::vector<std::string> list;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& w = words[k];
    const auto path = std::ranges::find_if(paths, [&](const char* p) { return w.starts_with(p); });
    if (path != paths.end()) {
      const bool is_apart = w == *path;
      if (is_apart && k + 1 == words.size()) break;
      list.emplace_back(*path), list.push_back(absolute(folder, is_apart ? words[++k] : w.substr(std::string_view(*path).size())));
    } else if ((w == "-D" || w == "-U") && k + 1 < words.size()) {
      list.push_back(w + words[++k]);
    } else if (std::ranges::any_of(others, [&](const char* p) { return w.starts_with(p); })) {
      list.push_back(w);
    }
  }
  return list;
}

}  // namespace

Parsed<std::vector<DatabaseEntry>> read_database(std::string_view text, std::string_view file_name) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto fault = [&](const char* message) { return std::unexpected(SourceError{std::string(file_name), 1, 1, message}); };
  if (!json.is_array()) return fault("a compilation database is an array");
  static const std::set<std::string> kinds = {".c", ".cc", ".cpp", ".cxx"};
  std::vector<DatabaseEntry> entries;
  std::set<std::string> seen;
  for (const auto& e : json) {
    if (!e.is_object() || !e.contains("file")) return fault("an entry of a compilation database has a file");
    const fs::path folder = e.value("directory", "");
    DatabaseEntry entry{absolute(folder, e["file"].get<std::string>()), {}};
    if (!kinds.contains(fs::path(entry.file).extension().string()) || !seen.insert(entry.file).second) continue;
    const auto words =
        e.contains("arguments") ? e["arguments"].get<std::vector<std::string>>() : shell_words(e.value("command", ""));
    entry.arguments = kept(words, folder);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace regduel::llvm
