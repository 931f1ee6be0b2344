// The sum of many duels as lines and tables.
#pragma once

#include <string>

#include "fuzz/campaign/tally.h"

namespace regduel::cli {

// "" where there was no duel.
[[nodiscard]] std::string text_of(const fuzz::Tally& tally);

}  // namespace regduel::cli
