#include "reference/knobs.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace regduel::reference {
namespace {

std::optional<int> parse_int(std::string_view s, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size() || value < low || value > high) return std::nullopt;
  return value;
}
std::optional<bool> parse_bool(std::string_view s) {
  if (s == "1" || s == "true" || s == "on") return true;
  if (s == "0" || s == "false" || s == "off") return false;
  return std::nullopt;
}
std::optional<Ratio> parse_ratio(std::string_view s) {
  const std::size_t slash = s.find('/');
  const auto n = parse_int(s.substr(0, slash), 1, 1000);
  const auto d = slash == std::string_view::npos ? std::optional(1) : parse_int(s.substr(slash + 1), 1, 1000);
  if (!n || !d) return std::nullopt;
  return Ratio{*n, *d};
}

}  // namespace

std::vector<ir::KnobInfo> knob_infos() {
  return {
      {"briggs-coalesce", -1, "bool", "1", "seed 003, phase 3", "coalesce copies before simplification", {"0", "1"}},
      {"briggs-bold-coalescing",
       -1,
       "bool",
       "1",
       "Chaitin 1982",
       "try first to coalesce without the conservative test",
       {"0", "1"}},
      {"briggs-coalescing-factor",
       -1,
       "ratio n/d, each 1 to 1000",
       "1/1",
       "seed 002, nvptx-regalloc-coalescing-factor",
       "weighs degrees in the coalescing tests: 4/5 merges more boldly, 2/1 more carefully",
       {"1/10", "4/5", "2/1", "1000"}},
      {"briggs-loop-base",
       -1,
       "int 1 to 1000",
       "10",
       "seed 003, phase 5",
       "frequency of a block is this to the power of its loop depth, where the program gives none",
       {"1", "2", "1000"}},
      {"briggs-biased-select",
       -1,
       "bool",
       "1",
       "Briggs, Cooper, Torczon 1994",
       "prefer colours that turn copies into identities",
       {"0", "1"}},
      {"briggs-rematerialise",
       -1,
       "bool",
       "1",
       "Briggs, Cooper, Torczon 1992",
       "compute a value again rather than refill it, where its only def reads no register",
       {"0", "1"}},
      {"briggs-max-rounds",
       -1,
       "int 1 to 1000",
       "40",
       "regduel",
       "rounds of colouring and spilling before everything goes to memory",
       {"1", "2", "1000"}},
      {"briggs-fewest-units",
       -1,
       "bool",
       "1",
       "regduel",
       "look for the fewest registers that do without spilling, from MaxLive up to the limit; 0 takes the limit at once, which is "
       "faster and as correct",
       {}},
  };
}

std::expected<Knobs, std::string> parse_knobs(std::span<const std::pair<std::string, std::string>> settings) {
  Knobs k;
  const auto set = [](auto& knob, const auto& parsed) {
    if (parsed) knob = *parsed;
    return parsed.has_value();
  };
  for (const auto& [name, value] : settings) {
    bool good = false;
    if (name == "briggs-coalesce") good = set(k.coalesce, parse_bool(value));
    else if (name == "briggs-bold-coalescing") good = set(k.bold_coalescing, parse_bool(value));
    else if (name == "briggs-coalescing-factor") good = set(k.coalescing_factor, parse_ratio(value));
    else if (name == "briggs-loop-base") good = set(k.loop_base, parse_int(value, 1, 1000));
    else if (name == "briggs-biased-select") good = set(k.biased_select, parse_bool(value));
    else if (name == "briggs-rematerialise") good = set(k.rematerialise, parse_bool(value));
    else if (name == "briggs-fewest-units") good = set(k.fewest_units, parse_bool(value));
    else if (name == "briggs-max-rounds") good = set(k.max_rounds, parse_int(value, 1, 1000));
    else return std::unexpected(fmt::format("briggs has no knob \"{}\"", name));
    if (good) continue;
    for (const ir::KnobInfo& info : knob_infos())
      if (info.name == name) return std::unexpected(fmt::format("knob {}: expected {}, found \"{}\"", name, info.type, value));
  }
  return k;
}

}  // namespace regduel::reference
