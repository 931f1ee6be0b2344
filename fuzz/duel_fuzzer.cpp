// The one file that knows libFuzzer: its entry points, on top of duel_target.h and mutator.h. Other engines that speak the same
// interface link it as well ($LIB_FUZZING_ENGINE).
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz/duel_target.h"
#include "fuzz/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return regduel::fuzz::duel_target({data, size});
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed) {
  namespace fuzz = regduel::fuzz;
  const fuzz::FuzzInput original = fuzz::decode_input({data, size});
  fuzz::FuzzInput input = original;
  fuzz::mutate(input, seed);
  // Too long for the engine: first the original again (it may have been derived from other bytes), then ever smaller programs.
  std::vector<std::uint8_t> bytes = fuzz::encode_input(input);
  if (bytes.size() > max_size) bytes = fuzz::encode_input(original);
  for (int length = 64; bytes.size() > max_size && length > 0; length /= 2)
    bytes = fuzz::encode_input(fuzz::derive_input(seed, length));
  if (bytes.size() > max_size) return std::min(size, max_size);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
