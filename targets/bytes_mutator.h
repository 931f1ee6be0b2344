// The mutator and the crossover of programs (mutator.h) on inputs as bytes, the way fuzzing engines hold them. engine.cpp gives
// them to libFuzzer and its like, afl_mutator.cpp to AFL++.
#pragma once

#include <cstdint>
#include <vector>

#include "targets/targets.h"

namespace regduel::targets {

// A fuzz input of at most `max_size` bytes derived from another; empty where not even the smallest program fits. A child that is
// too long is replaced by its parent, that by ever smaller programs. The same arguments, the same bytes. Cost: O(bytes).
[[nodiscard]] std::vector<std::uint8_t> mutate_bytes(Bytes bytes, std::size_t max_size, std::uint64_t seed);
[[nodiscard]] std::vector<std::uint8_t> cross_bytes(Bytes a, Bytes b, std::size_t max_size, std::uint64_t seed);

}  // namespace regduel::targets
