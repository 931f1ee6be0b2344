// The settings of duelists by name, as a case holds them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/allocator.h"
#include "ir/target.h"

namespace regduel::duel {

using Knobs = std::vector<std::pair<std::string, std::string>>;  // name and value; the later of two wins

// Knobs for the duelists, drawn from their samples: none in half of all draws, else each with one chance in four; and always the
// order of a series of passes (passes/series.h). The same seed draws the same for the same duelists.
[[nodiscard]] Knobs draw_knobs(std::span<const ir::Allocator* const> duelists, std::uint64_t seed);
// The knobs among these that this allocator knows.
[[nodiscard]] Knobs known_to(const ir::Allocator& allocator, const Knobs& knobs);

// The lines of a case file that say how to play it: target, limit, knob (case_file.h).
[[nodiscard]] std::string case_head(const ir::Target& target, const ir::Limits& limits, const Knobs& knobs);

}  // namespace regduel::duel
