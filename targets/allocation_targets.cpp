// The targets that allocate: duel, fatpoint, briggs, spill, coalesce.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "duel/allocators.h"
#include "fuzz/triage/failure.h"
#include "generate/generator.h"
#include "ir/text/text.h"
#include "targets/targets.h"

namespace regduel::targets {
namespace {

std::optional<std::string> wrong_in(const duel::Case& input, std::span<const ir::Allocator* const> duelists,
                                    bool metamorphic = false) {
  const duel::Duel d = duel::duel(input, {.duelists = duelists, .metamorphic = metamorphic});
  if (d.verdict() != oracles::Verdict::Fail) return std::nullopt;
  return fuzz::describe(input, d);
}

// Judges one allocator, and allocates again, because an allocation is a function of its arguments.
std::optional<std::string> try_one(Bytes bytes, std::string_view name) {
  const duel::Case input = duel::decode_case(bytes);
  const std::array duelists = {duel::find_allocator(name)};
  const auto text = [](const duel::Duel& d) { return d.bouts[0].program ? ir::print(*d.bouts[0].program) : d.bouts[0].reason(); };
  const duel::Duel first = duel::duel(input, {.duelists = duelists});
  if (first.verdict() == oracles::Verdict::Fail) return fuzz::describe(input, first);
  constexpr std::string_view kQuickest = "structure";
  const std::array judges = {std::string(kQuickest)};
  const duel::Duel second = duel::duel(input, {.duelists = duelists, .judges = judges});
  if (text(first) == text(second)) return std::nullopt;
  return fmt::format("FINDING {}: harness/not-deterministic: two allocations of one program differ\n{}", name,
                     fuzz::describe(input, first));
}

}  // namespace

// One in 16 small programs is also put before the metamorphic judge, which takes ten times as long; the bytes decide which.
std::optional<std::string> try_duel(Bytes bytes) {
  constexpr std::size_t kMostInstructions = 100;
  const duel::Case input = duel::decode_case(bytes);
  return wrong_in(input, duel::all_duelists(),
                  std::accumulate(bytes.begin(), bytes.end(), 0u) % 16 == 0 && input.program.insts.size() <= kMostInstructions);
}
std::optional<std::string> try_classic(Bytes bytes) { return try_one(bytes, "classic"); }
std::optional<std::string> try_fatpoint(Bytes bytes) { return try_one(bytes, "fatpoint"); }
std::optional<std::string> try_briggs(Bytes bytes) { return try_one(bytes, "briggs"); }

std::optional<std::string> try_spill(Bytes bytes) {
  duel::Case input = duel::decode_case(bytes);
  const ir::PerFile<int> fewest = generate::demand_bound(input.program, *input.target);
  for (const ir::RegFile file : ir::kAllFiles) {
    const std::size_t k = ir::index(file);
    if (input.target->units[k] > 0) input.limits.units[k] = std::clamp(fewest[k], 1, input.target->units[k]);
  }
  return wrong_in(input, duel::all_duelists());
}

std::optional<std::string> try_coalesce(Bytes bytes) {
  duel::Case input = duel::decode_case(bytes);
  const std::array duelists = {duel::find_allocator("briggs")};
  const duel::Knobs given = input.knobs;
  for (const ir::KnobInfo& knob : duelists[0]->knobs()) {
    if (knob.group != ir::KnobGroup::Coalescing) continue;
    for (const std::string& value : knob.samples) {
      input.knobs = given;
      input.knobs.emplace_back(knob.name, value);
      if (auto wrong = wrong_in(input, duelists)) return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace regduel::targets
