// Where the time of a fuzzing duel goes: the inputs that a campaign breeds, layer by layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "duel/case.h"

namespace regduel::cli {

struct Layer {
  std::string name;
  double seconds = 0;  // of CPU time, all inputs together
};

struct Layers {
  std::int64_t inputs = 0, instructions = 0;  // of all inputs together
  std::vector<Layer> layers;                  // in the order in which they run
  double target_seconds = 0;                  // the `duel` target on the same inputs, from bytes to verdict
};

// Inputs that a campaign breeds from nothing. Cost: a duel each.
[[nodiscard]] std::vector<duel::Case> breed_inputs(std::uint64_t seed, int inputs);

// Breeds `inputs` inputs from nothing, and measures each step of each. Cost: about twice what the duels take.
[[nodiscard]] Layers measure_layers(std::uint64_t seed, int inputs);

// "AddressSanitizer", or "" where the program is built without.
[[nodiscard]] std::string_view sanitizer();

}  // namespace regduel::cli
