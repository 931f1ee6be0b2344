// Reads claims. See claims.h.

#include "cli/claims.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace regduel::cli {
namespace {

constexpr std::array kRegisterKeys = {
    std::pair("registers", ir::RegFile::R),          std::pair("predicates", ir::RegFile::P),
    std::pair("uniform_registers", ir::RegFile::UR), std::pair("uniform_predicates", ir::RegFile::UP),
    std::pair("barriers", ir::RegFile::B),           std::pair("uniform_barriers", ir::RegFile::UB),
    std::pair("accumulators", ir::RegFile::Acc)};

// Sets one figure of the claims. False where there is no such key.
bool set(ir::Claims& claims, std::string_view key, std::int64_t value) {
  for (const auto& [name, file] : kRegisterKeys)
    if (key == name) return claims.registers[ir::index(file)] = static_cast<int>(value), true;
  if (key == "spill_store_bytes") return claims.spill_store_bytes = value, true;
  if (key == "spill_load_bytes") return claims.spill_load_bytes = value, true;
  return false;
}

// action(item, offset) for each item of a list with commas; stops where it returns false.
void each_item(std::string_view list, const auto& action) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    if (!action(list.substr(begin, comma - begin), begin)) return;
    begin = comma + 1;
  }
}

struct Wrong {
  std::size_t at = 0;
  std::string message;
};

// Adds the claims of a list; place_at(offset) says where an item stands.
std::optional<Wrong> read_into(std::vector<Claim>& claims, std::string_view list, const auto& place_at) {
  std::optional<Wrong> wrong;
  each_item(list, [&](std::string_view item, std::size_t at) {
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view key = item.substr(0, equals), number = item.substr(std::min(equals + 1, item.size()));
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    constexpr std::int64_t most = 1'000'000'000;
    const auto other = std::ranges::find_if(claims, [&](const Claim& c) { return c.key == key && c.value != value; });
    ir::Claims unused;
    if (number.empty() || error != std::errc() || end != number.data() + number.size() || value < 0 || value > most)
      wrong = {at, fmt::format("expected KEY=NUMBER, found \"{}\"", item)};
    else if (!set(unused, key, value))
      wrong = {at,
               fmt::format("no figure \"{}\"; there are registers, predicates, uniform_registers, uniform_predicates, barriers, "
                           "uniform_barriers, accumulators, spill_store_bytes and spill_load_bytes",
                           key)};
    else if (other != claims.end())
      wrong = {
          at, fmt::format("{}={} is claimed where {} claims {}={}; claim one figure", key, value, other->place, key, other->value)};
    else claims.push_back({std::string(key), value, place_at(at)});
    return !wrong;
  });
  return wrong;
}

constexpr std::string_view kBlanks = " \t\r";

std::string_view without_blanks(std::string_view s) { return s.substr(std::min(s.find_first_not_of(kBlanks), s.size())); }

// Takes the word off the line, with the blanks around it. False where the line begins with something else, or the word goes on.
bool take(std::string_view& line, std::string_view word) {
  const std::string_view rest = without_blanks(line);
  if (!rest.starts_with(word)) return false;
  const char next = rest.size() > word.size() ? rest[word.size()] : ' ';
  if (word != "//" && (next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z')))
    return false;
  line = without_blanks(rest.substr(word.size()));
  return true;
}

}  // namespace

std::expected<void, std::string> add_claims(std::vector<Claim>& claims, std::string_view list, std::string_view place) {
  if (auto wrong = read_into(claims, list, [&](std::size_t) { return std::string(place); }))
    return std::unexpected(std::move(wrong->message));
  return {};
}

ir::Claims figures_of(const std::vector<Claim>& claims, const oracles::Measures& measures) {
  ir::Claims figures;
  for (const ir::RegFile file : ir::kAllFiles) figures.registers[ir::index(file)] = measures.registers[ir::index(file)];
  figures.spill_store_bytes = measures.spill_store_bytes;
  figures.spill_load_bytes = measures.spill_load_bytes;
  for (const Claim& c : claims) set(figures, c.key, c.value);
  return figures;
}

Parsed<std::vector<std::vector<Claim>>> claim_lines(std::string_view text, std::string_view file) {
  struct Line {
    std::string_view list;
    int number = 0, column = 0;
  };
  std::vector<std::vector<Claim>> all;
  std::vector<Line> waiting;  // for the next line that is none of them
  std::optional<SourceError> error;
  const auto settle = [&] {
    for (const Line& l : waiting) {
      const auto column = [&](std::size_t at) { return l.column + static_cast<int>(at); };
      const auto wrong =
          read_into(all.back(), l.list, [&](std::size_t at) { return fmt::format("{}:{}:{}", file, l.number, column(at)); });
      if (wrong && !error) error = SourceError{std::string(file), l.number, column(wrong->at), wrong->message};
    }
    waiting.clear();
  };
  int number = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size() && !error; begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    while (!line.empty() && kBlanks.contains(line.back())) line.remove_suffix(1);
    ++number;
    std::string_view rest = line;
    if (take(rest, "//")) {
      if (take(rest, "claim")) waiting.push_back({rest, number, static_cast<int>(line.size() - rest.size()) + 1});
    } else if (take(rest, "func")) {
      all.emplace_back();
      settle();
    } else if (!rest.empty() && !all.empty()) {
      settle();
    }
  }
  if (!error && !waiting.empty() && all.empty())
    error = SourceError{std::string(file), waiting[0].number, 0, "there is no function of which this could be claimed"};
  else if (!error) settle();
  if (error) return std::unexpected(*std::move(error));
  return all;
}

}  // namespace regduel::cli
