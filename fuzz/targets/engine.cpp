// The one file that knows an engine's interface, which is that of libFuzzer; AFL++'s driver, honggfuzz and others speak it too, and are linked
// as $LIB_FUZZING_ENGINE. REGDUEL_FUZZ_TARGET is the name of the target that this program runs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fuzz/mutator.h"
#include "fuzz/targets/targets.h"

namespace {

namespace fuzz = regduel::fuzz;

const fuzz::FuzzTarget& target() {
  static const fuzz::FuzzTarget* const found = fuzz::find_fuzz_target(REGDUEL_FUZZ_TARGET);
  return *found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto wrong = target().body({data, size})) {
    std::fprintf(stderr, "%s\n", wrong->c_str());
    std::fflush(stderr);
    std::abort();
  }
  return 0;
}

#ifdef REGDUEL_FUZZ_STRUCTURED
namespace {

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
#endif
