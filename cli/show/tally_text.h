// The sum of many duels as lines and tables, and as JSON.
#pragma once

#include <string>

#include "cli/show/json.h"
#include "fuzz/campaign/tally.h"

namespace regduel::cli {

// "" where there was no duel.
[[nodiscard]] std::string text_of(const fuzz::Tally& tally);
[[nodiscard]] Json json_of(const fuzz::Tally& tally);

}  // namespace regduel::cli
