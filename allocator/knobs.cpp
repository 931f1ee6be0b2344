// See knobs.h.

#include "allocator/knobs.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace regduel::allocator {
namespace {

constexpr KnobRow kTable[kNumKnobs] = {
    {Knob::EstimatedLoopIterations, "RegAllocEstimatedLoopIterations", 623, KnobType::Int, 10, 1, 1000,
     "seed 000 \"Post-Init\"", "iterations a loop level is taken to run: the base of block frequencies"},
    {Knob::FastAllocation, "RegAllocFastAllocation", 638, KnobType::Bool, 0, 0, 1, "seed 000 \"Fast Register Allocation\"",
     "one attempt without spilling (or as many as knob 639 says) instead of the retry table (name ours)"},
    {Knob::NoSpillAttempts, "RegAllocNoSpillAttempts", 639, KnobType::Int, 1, 0, 8, "seed 000 \"Retry Loop\"",
     "attempts without spilling where knob 638 is on (name ours)"},
    {Knob::InterferenceThreshold, "RegAllocInterferenceThreshold", 684, KnobType::Int, 50, 0, 1000000,
     "seed 000 \"Register Selection\"", "a slot whose interference weight is above this counts as congested (name ours)"},
    {Knob::SpillRounds, "FatPointSpillRounds", -1, KnobType::Int, 16, 0, 1000, "ours",
     "rounds of spilling before everything is kept in memory and each instruction is packed by itself"},
    {Knob::Rematerialise, "FatPointRematerialise", -1, KnobType::Bool, 1, 0, 1, "ours",
     "compute values without register sources again instead of spilling them"},
    {Knob::RefillReuse, "FatPointRefillReuse", -1, KnobType::Int, 12, 0, 1000, "ours",
     "instructions over which a refilled value may stay in its register for the next use in the block"},
    {Knob::LargeProgram, "FatPointLargeProgram", -1, KnobType::Int, 4096, 0, 1000000000, "ours",
     "a program of more instructions than this is allocated in few rounds, at the price of some refills"},
};

std::string_view type_name(KnobType t) { return t == KnobType::Bool ? "bool" : "int"; }

}  // namespace

std::span<const KnobRow> knob_table() { return kTable; }

Knobs::Knobs() {
  for (const KnobRow& row : kTable) values_[static_cast<std::size_t>(row.knob)] = row.default_value;
}

std::expected<void, std::string> Knobs::set(std::string_view name, std::string_view value) {
  const KnobRow* found = nullptr;
  for (const KnobRow& row : kTable)
    if (row.name == name || (row.id >= 0 && fmt::format("{}", row.id) == name)) found = &row;
  if (found == nullptr) return std::unexpected(fmt::format("unknown knob \"{}\"", name));
  std::int64_t number = 0;
  if (found->type == KnobType::Bool && (value == "true" || value == "false")) {
    number = value == "true" ? 1 : 0;
  } else {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || value.empty() || number < found->low || number > found->high)
      return std::unexpected(fmt::format("knob {}: \"{}\" is no {} from {} to {}", found->name, value, type_name(found->type),
                                         found->low, found->high));
  }
  values_[static_cast<std::size_t>(found->knob)] = number;
  set_[static_cast<std::size_t>(found->knob)] = true;
  return {};
}

std::expected<Knobs, std::string> Knobs::parse(std::span<const std::pair<std::string, std::string>> settings) {
  Knobs knobs;
  for (const auto& [name, value] : settings)
    if (auto set = knobs.set(name, value); !set) return std::unexpected(set.error());
  return knobs;
}

std::vector<ir::KnobInfo> knob_infos() {
  std::vector<ir::KnobInfo> infos;
  for (const KnobRow& row : kTable) {
    std::vector<std::string> samples;
    for (const std::int64_t value : {row.low, row.low + 1, row.default_value / 2, row.default_value * 2, row.high})
      if (const std::string text = fmt::format("{}", value);
          value >= row.low && value <= row.high && std::find(samples.begin(), samples.end(), text) == samples.end())
        samples.push_back(text);
    infos.push_back({std::string(row.name), row.id, std::string(type_name(row.type)), fmt::format("{}", row.default_value),
                     std::string(row.source), std::string(row.help), std::move(samples)});
  }
  return infos;
}

}  // namespace regduel::allocator
