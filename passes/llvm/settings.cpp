#include "passes/llvm/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace regduel::passes::llvm {
namespace {

constexpr int kMost = 1'000'000'000;

struct Row {
  std::string_view name;
  bool Settings::* flag;  // or
  int Settings::* number;
  std::string_view help;
};
constexpr std::array kRows = std::to_array<Row>({
    {"llvm-join-liveintervals", &Settings::join_liveintervals, nullptr, "join the live intervals of copies at all"},
    {"llvm-join-splitedges", &Settings::join_splitedges, nullptr,
     "join copies on split critical edges, and phis' on critical ones; such blocks go first"},
    {"llvm-join-globalcopies", &Settings::join_globalcopies, nullptr,
     "join copies whose both sides live in several blocks, and phis"},
    {"llvm-terminal-rule", &Settings::terminal_rule, nullptr,
     "copies to what has no other copy wait for those that they would block"},
    {"llvm-verify-coalescing", &Settings::verify_coalescing, nullptr, "verify program and intervals before and after"},
    {"llvm-late-remat-update-threshold", nullptr, &Settings::late_remat_update_threshold,
     "a value with so many copies keeps its interval until the end of a round when one of them is rematerialised"},
    {"llvm-large-interval-size-threshold", nullptr, &Settings::large_interval_size_threshold,
     "an interval of so many values is large"},
    {"llvm-large-interval-freq-threshold", nullptr, &Settings::large_interval_freq_threshold,
     "a large interval is looked at so often"},
    {"llvm-twoaddr-reschedule", &Settings::twoaddr_reschedule, nullptr, "move copies of a tied use before its instruction"},
});

}  // namespace

std::vector<ir::KnobInfo> knob_infos() {
  std::vector<ir::KnobInfo> infos;
  const Settings standard;
  for (const Row& row : kRows) {
    ir::KnobInfo info;
    info.name = row.name;
    info.source = "source 004";
    info.help = row.help;
    if (row.flag != nullptr) {
      info.type = "bool";
      info.default_value = standard.*row.flag ? "true" : "false";
      info.samples = {"false", "true"};
    } else {
      info.type = "int";
      info.default_value = fmt::format("{}", standard.*row.number);
      info.samples = {"0", "1", "4", info.default_value};
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

std::expected<Settings, std::string> parse_settings(std::span<const std::pair<std::string, std::string>> knobs) {
  Settings settings;
  for (const auto& [name, value] : knobs) {
    const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == name; });
    if (row == kRows.end()) return std::unexpected(fmt::format("llvm has no knob \"{}\"", name));
    if (row->flag != nullptr) {
      if (value != "true" && value != "false" && value != "1" && value != "0")
        return std::unexpected(fmt::format("{}: expected true or false, not \"{}\"", name, value));
      settings.*row->flag = value == "true" || value == "1";
      continue;
    }
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0 || number > kMost)
      return std::unexpected(fmt::format("{}: expected 0 to {}, not \"{}\"", name, kMost, value));
    settings.*row->number = number;
  }
  return settings;
}

}  // namespace regduel::passes::llvm
