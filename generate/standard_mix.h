// The standard mix: what "N random programs" means everywhere. All profiles, sizes, targets, knobs and limits of every
// file; median at least 120 instructions, at least 10% of 1,000 or more, at most 5% impossible.
#pragma once

#include <cstdint>
#include <string>

#include "generate/generator.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::generate {

struct StandardCase {
  ir::Function program;
  std::string target;  // a shipped one
  ir::Limits limits;
  std::uint64_t knob_seed = 0;  // what draw_knobs (duel/duel.h) makes the knobs of the duelists from
  Profile profile = Profile::Mix;
};
// Case `index` of the mix that `seed` names: of any two cases each can be made without the other.
[[nodiscard]] StandardCase standard_mix(std::uint64_t seed, std::uint64_t index);

// Limits at which `program` fits, nearly always: tight, usual (24, 32, 64 ...) or the whole file. In about 2 of 100 draws one
// file's limit is below the bound of its demand.
[[nodiscard]] ir::Limits draw_limits(const ir::Function& program, const ir::Target& target, std::uint64_t seed);

}  // namespace regduel::generate
