#include "reference/knobs.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace regduel::reference {
namespace {

bool read(std::string_view s, int least, int most, int& knob) {
  int value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size() || value < least || value > most) return false;
  knob = value;
  return true;
}
bool read(std::string_view s, int& knob) { return read(s, 1, 1000, knob); }
bool read(std::string_view s, Count& knob) { return read(s, 0, 1'000'000, knob.value); }
bool read(std::string_view s, Percent& knob) { return read(s, 0, 100, knob.value); }
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
  bool (*set)(Rules& rules, std::string_view value);  // false: the knob cannot have that value
};

template <auto Member>
Row row(const char* name, const char* type, const char* default_value, const char* source, const char* help,
        std::vector<std::string> samples) {
  return {{name, -1, type, default_value, source, help, std::move(samples)},
          [](Rules& rules, std::string_view value) { return read(value, rules.*Member); }};
}

const std::vector<Row>& briggs_rows() {
  static const std::vector<Row> table = {
      row<&Rules::coalesce>("briggs-coalesce", "bool", "1", "source 003, phase 3", "coalesce copies before simplification",
                            {"0", "1"}),
      row<&Rules::bold_coalescing>("briggs-bold-coalescing", "bool", "1", "Chaitin 1982",
                                   "try first to coalesce without the conservative test", {"0", "1"}),
      row<&Rules::coalescing_factor>(
          "briggs-coalescing-factor", "ratio n/d, each 1 to 1000", "1/1", "source 002, nvptx-regalloc-coalescing-factor",
          "weighs degrees in the coalescing tests: 4/5 merges more boldly, 2/1 more carefully", {"1/10", "4/5", "2/1", "1000"}),
      row<&Rules::loop_base>("briggs-loop-base", "int 1 to 1000", "10", "source 003, phase 5",
                             "frequency of a block is this to the power of its loop depth, where the program gives none",
                             {"1", "2", "1000"}),
      row<&Rules::biased_select>("briggs-biased-select", "bool", "1", "Briggs, Cooper, Torczon 1994",
                                 "prefer colours that turn copies into identities", {"0", "1"}),
      row<&Rules::rematerialise>("briggs-rematerialise", "bool", "1", "Briggs, Cooper, Torczon 1992",
                                 "compute a value again rather than refill it, where its only def reads no register", {"0", "1"}),
      row<&Rules::max_rounds>("briggs-max-rounds", "int 1 to 1000", "40", "regduel",
                              "rounds of colouring and spilling before everything goes to memory", {"1", "2", "1000"}),
      row<&Rules::spill_limit>("briggs-spill-limit", "int 0 to 1000000", "1000000", "source 002, spill-limit",
                               "give up (unsupported) once more values than these are spilled or computed again", {}),
      row<&Rules::occupancy_target>(
          "briggs-occupancy-target", "int 0 to 100", "0", "source 002, nvptx-regalloc-occupancy-target",
          "percent of an SM's warps: no more registers than allow for so many at the block's size; 75 in the "
          "source, 0 for no target",
          {"50", "75", "100"}),
      row<&Rules::fewest_units>("briggs-fewest-units", "bool", "1", "regduel",
                                "look for the fewest registers that do without spilling, from MaxLive up to the limit; 0 takes the "
                                "limit at once, which is faster and as correct",
                                {}),
      row<&Rules::lazy_refill>("briggs-lazy-refill", "bool", "1", "source 003, phase 6",
                               "leave out refills of what a register holds and stores of what no refill reads", {"0", "1"}),
      row<&Rules::refill_distance>("briggs-refill-distance", "int 1 to 1000", "256", "regduel",
                                   "how many instructions a refilled or stored value may wait in a free register for its next use",
                                   {"1", "8", "1000"}),
  };
  return table;
}

const std::vector<Row>& cicc_rows() {
  static const std::vector<Row> table = {
      row<&Rules::registers>(
          "cicc-registers", "int 1 to 1000", "1000", "source 003, K = 15",
          "K: at most so many registers of a file, 15 in the source; more than the limit is the limit, as is what "
          "single instructions need",
          {"4", "8", "15", "32"}),
      row<&Rules::coalesce>("cicc-coalesce", "bool", "1", "source 003, phase 3", "coalesce copies before simplification", {"0", "1"}),
      row<&Rules::coalescing_factor>("cicc-coalescing-factor", "ratio n/d, each 1 to 1000", "4/5", "source 003, 0.8",
                                     "weighs degrees in coalescing and in both tiers", {"1", "4/5", "1/2", "2/1"}),
      row<&Rules::has_tiers>("cicc-tiers", "bool", "1", "source 003, phase 4",
                             "take nodes off the graph by its two tiers; 0: in the order of briggs", {"0", "1"}),
      row<&Rules::has_constraint_edges>("cicc-constraint-edges", "bool", "1", "source 003, phase 2",
                                        "pairs (1.0) and operands of one bank (2.0) weigh in the degrees of the tiers", {"0", "1"}),
      row<&Rules::depth_base>("cicc-loop-base", "ratio n/d, each 1 to 1000", "3/2", "source 003, phase 5",
                              "spill costs grow by this with each loop around a value", {"1", "3/2", "10"}),
      row<&Rules::rematerialise>("cicc-rematerialise", "bool", "1", "Briggs, Cooper, Torczon 1992",
                                 "compute a value again rather than refill it, where its only def reads no register", {"0", "1"}),
      row<&Rules::lazy_refill>("cicc-lazy-refill", "bool", "1", "source 003, phase 6",
                               "leave out refills of what a register holds and stores of what no refill reads", {"0", "1"}),
      row<&Rules::spill_limit>("cicc-spill-limit", "int 0 to 1000000", "1000000", "source 002, spill-limit",
                               "give up (unsupported) once more values than these are spilled or computed again", {}),
      row<&Rules::occupancy_target>(
          "cicc-occupancy-target", "int 0 to 100", "0", "source 002, nvptx-regalloc-occupancy-target",
          "percent of an SM's warps: no more registers than allow for so many at the block's size; 75 in the "
          "source, 0 for no target",
          {"50", "75", "100"}),
      row<&Rules::pressure_limit>(
          "cicc-pressure-limit", "int 0 to 1000000", "0", "source 002, nvptx-regalloc-pressure-limit; source 003, 70% and 80%",
          "percent of K: where MaxLive is above, a round spills all that got no colour, else the cheapest of them; "
          "0 = 70 below sm_90, 80 from there",
          {"1", "100", "200"}),
      row<&Rules::max_rounds>("cicc-max-rounds", "int 1 to 1000", "40", "regduel",
                              "rounds of colouring and spilling before everything goes to memory", {"1", "2", "1000"}),
  };
  return table;
}

std::vector<ir::KnobInfo> infos(const std::vector<Row>& rows) {
  std::vector<ir::KnobInfo> list;
  for (const Row& r : rows) list.push_back(r.info);
  return list;
}

std::expected<Rules, std::string> parse(Rules rules, const std::vector<Row>& rows,
                                        std::span<const std::pair<std::string, std::string>> settings) {
  for (const auto& [name, value] : settings) {
    const auto at = std::ranges::find_if(rows, [&](const Row& r) { return r.info.name == name; });
    if (at == rows.end()) return std::unexpected(fmt::format("{} has no knob \"{}\"", rules.allocator, name));
    if (!at->set(rules, value))
      return std::unexpected(fmt::format("knob {}: expected {}, found \"{}\"", name, at->info.type, value));
  }
  return rules;
}

}  // namespace

std::vector<ir::KnobInfo> briggs_knobs() { return infos(briggs_rows()); }
std::vector<ir::KnobInfo> cicc_knobs() { return infos(cicc_rows()); }

std::expected<Rules, std::string> parse_briggs_knobs(std::span<const std::pair<std::string, std::string>> settings) {
  return parse({}, briggs_rows(), settings);
}

std::expected<Rules, std::string> parse_cicc_knobs(std::span<const std::pair<std::string, std::string>> settings) {
  Rules rules;
  rules.allocator = "cicc";
  rules.bold_coalescing = rules.biased_select = rules.fewest_units = false;
  rules.coalescing_factor = {4, 5};
  rules.has_tiers = rules.has_constraint_edges = rules.has_product_costs = true;
  return parse(rules, cicc_rows(), settings);
}

}  // namespace regduel::reference
