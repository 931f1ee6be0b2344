#include "llvm/compile/database.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "duel/exec/words.h"

namespace regduel::llvm {
namespace {

namespace fs = std::filesystem;

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

// The text of a field, "" where there is none; nullopt where the field is no text.
std::optional<std::string> text_of(const nlohmann::json& entry, const char* field) {
  const auto at = entry.find(field);
  if (at == entry.end()) return "";
  return at->is_string() ? std::optional(at->get<std::string>()) : std::nullopt;
}

// The words of the command of an entry; nullopt where it has another form.
std::optional<std::vector<std::string>> words_of(const nlohmann::json& entry) {
  const auto at = entry.find("arguments");
  if (at == entry.end()) {
    const auto command = text_of(entry, "command");
    return command ? duel::split_words(*command) : std::nullopt;
  }
  if (!at->is_array() || !std::ranges::all_of(*at, [](const nlohmann::json& word) { return word.is_string(); }))
    return std::nullopt;
  return at->get<std::vector<std::string>>();
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
    const auto file = e.is_object() ? text_of(e, "file") : std::nullopt,
               folder = e.is_object() ? text_of(e, "directory") : std::nullopt;
    if (!file || file->empty() || !folder) return fault("an entry of a compilation database has a file, and its directory is text");
    DatabaseEntry entry{absolute(*folder, *file), {}};
    if (!kinds.contains(fs::path(entry.file).extension().string()) || !seen.insert(entry.file).second) continue;
    const auto words = words_of(e);
    if (!words) return fault("the command of a compilation database is text with its quotes closed, or a list of words");
    entry.arguments = kept(*words, *folder);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace regduel::llvm
