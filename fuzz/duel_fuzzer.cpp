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

namespace {

namespace fuzz = regduel::fuzz;

// Too long for the engine: `original` again (it may have been derived from other bytes), then ever smaller programs. Returns 0 where nothing fits.
std::size_t put(const fuzz::FuzzInput& input, const fuzz::FuzzInput& original, std::uint8_t* out, std::size_t max_size, unsigned int seed) {
  std::vector<std::uint8_t> bytes = fuzz::encode_input(input);
  if (bytes.size() > max_size) bytes = fuzz::encode_input(original);
  for (int length = 64; bytes.size() > max_size && length > 0; length /= 2) bytes = fuzz::encode_input(fuzz::derive_input(seed, length));
  if (bytes.size() > max_size) return 0;
  std::copy(bytes.begin(), bytes.end(), out);
  return bytes.size();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed) {
  const fuzz::FuzzInput original = fuzz::decode_input({data, size});
  fuzz::FuzzInput input = original;
  fuzz::mutate(input, seed);
  const std::size_t written = put(input, original, data, max_size, seed);
  return written > 0 ? written : std::min(size, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size, const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out, std::size_t max_out_size, unsigned int seed) {
  const fuzz::FuzzInput a = fuzz::decode_input({first, first_size});
  return put(fuzz::cross(a, fuzz::decode_input({second, second_size}), seed), a, out, max_out_size, seed);
}
