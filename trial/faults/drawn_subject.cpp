// See drawn_subject.h.
#include "trial/faults/drawn_subject.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "duel/allocators.h"
#include "duel/knobs.h"
#include "ir/text/text.h"
#include "trial/faults/patterns.h"

namespace regduel::trial {

FaultMiss make_miss(std::string kind, const oracles::Case& c, std::uint64_t seed, std::uint64_t index) {
  FaultMiss miss;
  miss.kind = std::move(kind);
  miss.seed = seed;
  miss.index = index;
  miss.before = ir::print_file(c.before);
  miss.after = ir::print_file(c.after);
  miss.target = c.target.name;
  miss.limits = c.limits;
  return miss;
}

std::optional<ir::Allocation> allocate_or_miss(const ir::Allocator& allocator, const ir::Function& program, const oracles::Case& c,
                                               const ir::AllocOptions& options, std::uint64_t seed, std::uint64_t index,
                                               std::vector<FaultMiss>& misses) {
  try {
    if (auto allocation = allocator.allocate(program, c.target, options)) return *std::move(allocation);
  } catch (const InternalError& e) {
    misses.push_back(make_miss("internal-error", c, seed, index));
    misses.back().detail = fmt::format("{}: {}", allocator.name(), e.what());
  }
  return std::nullopt;
}

std::optional<DrawnSubject> draw_subject(std::uint64_t seed, std::uint64_t index, std::size_t largest,
                                         std::vector<FaultMiss>& misses) {
  generate::StandardCase c = generate::standard_mix(seed, index);
  const auto duelists = duel::all_duelists();
  const ir::Allocator& allocator = *duelists[static_cast<std::size_t>(index % duelists.size())];
  ir::AllocOptions options;
  options.limits = c.limits;
  options.knobs = duel::known_to(allocator, duel::draw_knobs(duelists, c.knob_seed));
  const ir::Target& target = *ir::find_target(c.target);
  auto allocation = allocate_or_miss(allocator, c.program, {c.program, c.program, target, c.limits}, options, seed, index, misses);
  if (!allocation || allocation->program.insts.size() > largest) return std::nullopt;
  const ir::Limits limits = c.limits;
  return DrawnSubject{std::move(c), target, std::string(allocator.name()), std::move(allocation->program), limits};
}

std::vector<std::string_view> rewrite(const ir::Function& before, const ir::Target& target, ir::Function& after, ir::Limits& limits,
                                      Random& random) {
  // Only a device function has registers to save, and few programs are one: there, that pattern is tried first.
  const auto all = patterns();
  const auto saving = std::find_if(all.begin(), all.end(), [](const Pattern& p) { return p.name == "callee-saved"; });
  bool save = before.kind == ir::FunctionKind::Device && saving != all.end() && random.chance(50);
  std::vector<std::string_view> applied;
  for (int k = random.between(1, 4); k > 0; --k, save = false) {
    const Pattern& pattern = save ? *saving : all[random.below(static_cast<std::uint32_t>(all.size()))];
    auto result = pattern.apply({before, after, target, limits}, random);
    if (!result) continue;
    after = std::move(result->program);
    limits = result->limits;
    applied.push_back(pattern.name);
  }
  return applied;
}

}  // namespace regduel::trial
