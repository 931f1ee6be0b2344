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

// Sets one figure. False where there is no such key.
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

std::optional<Wrong> read_into(ir::Claims& claims, std::string_view list) {
  std::optional<Wrong> wrong;
  each_item(list, [&](std::string_view item, std::size_t at) {
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view key = item.substr(0, equals), number = item.substr(std::min(equals + 1, item.size()));
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    constexpr std::int64_t most = 1'000'000'000;
    if (number.empty() || error != std::errc() || end != number.data() + number.size() || value < 0 || value > most)
      wrong = {at, fmt::format("expected KEY=NUMBER, found \"{}\"", item)};
    else if (!set(claims, key, value))
      wrong = {at,
               fmt::format("no figure \"{}\"; there are registers, predicates, uniform_registers, uniform_predicates, barriers, "
                           "uniform_barriers, accumulators, spill_store_bytes and spill_load_bytes",
                           key)};
    return !wrong;
  });
  return wrong;
}

constexpr std::string_view kClaim = "// claim ";

}  // namespace

std::expected<ir::Claims, std::string> read_claims(std::string_view list, const oracles::Measures& measures) {
  ir::Claims claims;
  for (const ir::RegFile file : ir::kAllFiles) claims.registers[ir::index(file)] = measures.registers[ir::index(file)];
  claims.spill_store_bytes = measures.spill_store_bytes;
  claims.spill_load_bytes = measures.spill_load_bytes;
  if (auto wrong = read_into(claims, list)) return std::unexpected(std::move(wrong->message));
  return claims;
}

Parsed<std::map<std::string, std::string, std::less<>>> claim_lines(std::string_view text, std::string_view file) {
  std::map<std::string, std::string, std::less<>> all;
  std::string list;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(blanks);
    if (line.starts_with(kClaim)) {
      line.remove_prefix(kClaim.size());
      ir::Claims claims;
      if (const auto wrong = read_into(claims, line))
        return std::unexpected(
            SourceError{std::string(file), number, static_cast<int>(blanks + kClaim.size() + wrong->at) + 1, wrong->message});
      list += (list.empty() ? "" : ",") + std::string(line);
    } else if (constexpr std::string_view func = "func @"; line.starts_with(func)) {
      line.remove_prefix(func.size());
      const bool is_quoted = line.starts_with('"');
      std::string name(is_quoted ? line.substr(1, line.find('"', 1) - 1) : line.substr(0, line.find(' ')));
      if (!list.empty()) all.emplace(std::move(name), std::exchange(list, {}));
    }
  }
  return all;
}

}  // namespace regduel::cli
