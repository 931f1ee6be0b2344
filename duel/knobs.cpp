// See knobs.h.
#include "duel/knobs.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"
#include "passes/series.h"

namespace regduel::duel {

Knobs known_to(const ir::Allocator& allocator, const Knobs& knobs) {
  Knobs result;
  if (knobs.empty()) return result;
  const std::span<const ir::KnobInfo> known = allocator.knobs();
  for (const auto& knob : knobs)
    if (std::ranges::find(known, knob.first, &ir::KnobInfo::name) != known.end()) result.push_back(knob);
  return result;
}

Knobs draw_knobs(std::span<const ir::Allocator* const> duelists, std::uint64_t seed) {
  constexpr std::uint64_t kKnobStream = 0x6B6E6F62, kOrderStream = 0x6F726465;
  Random random(hash_combine(seed, kKnobStream));
  Knobs knobs;
  // The order of passes is drawn in each case, the other knobs in half of them.
  for (const ir::Allocator* allocator : duelists) {
    const auto order = std::ranges::find(allocator->knobs(), passes::kSeriesOrder, &ir::KnobInfo::name);
    if (order != allocator->knobs().end() && knobs.empty())
      knobs.emplace_back(
          order->name,
          order->samples[Random(hash_combine(seed, kOrderStream)).below(static_cast<std::uint32_t>(order->samples.size()))]);
  }
  if (random.chance(50)) return knobs;
  for (const ir::Allocator* allocator : duelists)
    for (const ir::KnobInfo& knob : allocator->knobs())
      if (!knob.samples.empty() && knob.name != passes::kSeriesOrder && random.chance(25))
        knobs.emplace_back(knob.name, knob.samples[random.below(static_cast<std::uint32_t>(knob.samples.size()))]);
  return knobs;
}

std::string case_head(const ir::Target& target, const ir::Limits& limits, const Knobs& knobs) {
  std::string out = fmt::format("// target: {}\n// limit:", target.name);
  for (const ir::RegFile file : ir::kAllFiles)
    if (limits.of(file) > 0) out += fmt::format(" {}={}", ir::name(file), limits.of(file));
  out += '\n';
  for (const auto& [name, value] : knobs) out += fmt::format("// knob: {}={}\n", name, value);
  return out;
}

}  // namespace regduel::duel
