#include "reference/knobs.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace regduel::reference {
namespace {

// In [1, 1000].
bool read(std::string_view s, int& knob) {
  int value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size() || value < 1 || value > 1000) return false;
  knob = value;
  return true;
}
bool read(std::string_view s, bool& knob) {
  const bool is_on = s == "1" || s == "true" || s == "on";
  if (!is_on && s != "0" && s != "false" && s != "off") return false;
  knob = is_on;
  return true;
}
bool read(std::string_view s, Ratio& knob) {
  const std::size_t slash = s.find('/');
  Ratio ratio;
  if (!read(s.substr(0, slash), ratio.numerator)) return false;
  if (slash != std::string_view::npos && !read(s.substr(slash + 1), ratio.denominator)) return false;
  knob = ratio;
  return true;
}

struct Row {
  ir::KnobInfo info;
  bool (*set)(Knobs& knobs, std::string_view value);  // false: the knob cannot have that value
};

template <auto Member>
Row row(const char* name, const char* type, const char* default_value, const char* source, const char* help,
        std::vector<std::string> samples) {
  return {{name, -1, type, default_value, source, help, std::move(samples)},
          [](Knobs& knobs, std::string_view value) { return read(value, knobs.*Member); }};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      row<&Knobs::coalesce>("briggs-coalesce", "bool", "1", "seed 003, phase 3", "coalesce copies before simplification",
                            {"0", "1"}),
      row<&Knobs::bold_coalescing>("briggs-bold-coalescing", "bool", "1", "Chaitin 1982",
                                   "try first to coalesce without the conservative test", {"0", "1"}),
      row<&Knobs::coalescing_factor>(
          "briggs-coalescing-factor", "ratio n/d, each 1 to 1000", "1/1", "seed 002, nvptx-regalloc-coalescing-factor",
          "weighs degrees in the coalescing tests: 4/5 merges more boldly, 2/1 more carefully", {"1/10", "4/5", "2/1", "1000"}),
      row<&Knobs::loop_base>("briggs-loop-base", "int 1 to 1000", "10", "seed 003, phase 5",
                             "frequency of a block is this to the power of its loop depth, where the program gives none",
                             {"1", "2", "1000"}),
      row<&Knobs::biased_select>("briggs-biased-select", "bool", "1", "Briggs, Cooper, Torczon 1994",
                                 "prefer colours that turn copies into identities", {"0", "1"}),
      row<&Knobs::rematerialise>("briggs-rematerialise", "bool", "1", "Briggs, Cooper, Torczon 1992",
                                 "compute a value again rather than refill it, where its only def reads no register", {"0", "1"}),
      row<&Knobs::max_rounds>("briggs-max-rounds", "int 1 to 1000", "40", "regduel",
                              "rounds of colouring and spilling before everything goes to memory", {"1", "2", "1000"}),
      row<&Knobs::fewest_units>("briggs-fewest-units", "bool", "1", "regduel",
                                "look for the fewest registers that do without spilling, from MaxLive up to the limit; 0 takes the "
                                "limit at once, which is faster and as correct",
                                {}),
      row<&Knobs::lazy_refill>("briggs-lazy-refill", "bool", "1", "seed 003, phase 6",
                               "leave out refills of what a register holds and stores of what no refill reads", {"0", "1"}),
      row<&Knobs::refill_distance>("briggs-refill-distance", "int 1 to 1000", "256", "regduel",
                                   "how many instructions a refilled or stored value may wait in a free register for its next use",
                                   {"1", "8", "1000"}),
  };
  return table;
}

}  // namespace

std::vector<ir::KnobInfo> knob_infos() {
  std::vector<ir::KnobInfo> infos;
  for (const Row& r : rows()) infos.push_back(r.info);
  return infos;
}

std::expected<Knobs, std::string> parse_knobs(std::span<const std::pair<std::string, std::string>> settings) {
  Knobs knobs;
  for (const auto& [name, value] : settings) {
    const auto at = std::ranges::find_if(rows(), [&](const Row& r) { return r.info.name == name; });
    if (at == rows().end()) return std::unexpected(fmt::format("briggs has no knob \"{}\"", name));
    if (!at->set(knobs, value))
      return std::unexpected(fmt::format("knob {}: expected {}, found \"{}\"", name, at->info.type, value));
  }
  return knobs;
}

}  // namespace regduel::reference
