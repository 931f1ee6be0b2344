// When to try again without spilling, and when to stop.
//
//   knob 638   knob 639   pressure   attempts
//   special                          0        straight to spilling (--fast-compile=max)
//   on         set                   knob 639
//   on         not set               1
//   off                   low        2
//   off                   high       0
//
// Pressure is low if MaxLive is not above the target (DECISIONS). An attempt succeeds if its result is not above the target (reserved
// registers are not scanned, so a result counts those below it). Retries end when the result is MaxLive, which cannot get better.
//
// Source: source 000 "Retry Loop", "Fast Register Allocation". Tested by retry_test.cpp.
#pragma once

#include <cstdint>

#include "allocator/knobs.h"

namespace regduel::allocator {

[[nodiscard]] inline bool is_special_mode(const Knobs& knobs) {
  return knobs[Knob::FastAllocation] != 0 && knobs[Knob::FastCompile] == static_cast<std::int64_t>(FastCompile::Max);
}

[[nodiscard]] inline std::int64_t attempts_without_spilling(const Knobs& knobs, bool is_pressure_low) {
  if (is_special_mode(knobs)) return 0;
  if (knobs[Knob::FastAllocation] != 0) return knobs.is_set(Knob::NoSpillAttempts) ? knobs[Knob::NoSpillAttempts] : 1;
  return is_pressure_low ? 2 : 0;
}

}  // namespace regduel::allocator
