// See standard_mix.h.
#include "generate/standard_mix.h"

#include <algorithm>
#include <span>

#include "base/random.h"

namespace regduel::generate {
namespace {

using ir::RegFile;

constexpr std::uint64_t kLimitStream = 0x6C696D697473;  // keeps the limits' numbers apart from the program's

int draw_limit(Random& random, RegFile file, int bound, int units) {
  const auto r = random.below(100);
  int limit = units;
  if (file == RegFile::R) {
    constexpr int kUsual[] = {16, 24, 32, 32, 40, 48, 64, 64, 96, 128, 168, 255};
    if (r < 30) limit = bound + static_cast<int>(random.below(5));
    else if (r < 55) limit = random.between(12, 40);
    else if (r < 95) limit = kUsual[random.below(12)];
  } else {
    if (r < 35) limit = bound + static_cast<int>(random.below(3));
    else if (r < 60) limit = random.between(1, units);
  }
  return std::clamp(limit, std::max(bound, 1), units);
}

}  // namespace

ir::Limits draw_limits(const ir::Function& program, const ir::Target& target, std::uint64_t seed) {
  Random random(hash_combine(seed, kLimitStream));
  const ir::PerFile<int> bound = demand_bound(program, target);
  ir::Limits limits;
  for (const RegFile file : ir::kAllFiles) {
    const std::size_t k = ir::index(file);
    if (target.units[k] > 0) limits.units[k] = draw_limit(random, file, std::min(bound[k], target.units[k]), target.units[k]);
  }
  if (random.chance(2)) {
    const std::size_t k = ir::index(random.chance(70) ? RegFile::R : RegFile::P);
    const int less = random.between(1, 3);
    if (bound[k] > less) limits.units[k] = bound[k] - less;
  }
  return limits;
}

StandardCase standard_mix(std::uint64_t seed, std::uint64_t index) {
  Random random(hash_combine(seed, index));
  StandardCase c;
  const std::span<const ir::Target> targets = ir::targets();
  const ir::Target& target = targets[random.below(static_cast<std::uint32_t>(targets.size()))];
  c.target = target.name;
  c.profile = profiles()[random.below(kNumProfiles)];
  const std::uint64_t program_seed = random.next();
  c.program = generate({.profile = c.profile, .seed = program_seed, .size = 0, .target = c.target}, target);
  c.limits = draw_limits(c.program, target, program_seed);
  c.knob_seed = program_seed;
  return c;
}

}  // namespace regduel::generate
