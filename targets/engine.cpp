// The one file that knows libFuzzer's interface, which is that of AFL++'s driver, honggfuzz and others too: they are linked as
// $LIB_FUZZING_ENGINE. REGDUEL_FUZZ_TARGET is the name of the target that this program runs.
//
// In a build with planted bugs the environment variable REGDUEL_PLANT names the one that is switched on; in any other, it is an
// error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "targets/bytes_mutator.h"
#include "targets/targets.h"
#include "trial/planted/catalogue.h"

namespace targets = regduel::targets;
namespace trial = regduel::trial;

namespace {

const targets::FuzzTarget& target() {
  static const targets::FuzzTarget* const found = targets::find_fuzz_target(REGDUEL_FUZZ_TARGET);
  return *found;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const bug = std::getenv("REGDUEL_PLANT");
  if (bug == nullptr || *bug == 0) return 0;
  if (!trial::has_planted_bugs() || trial::find_planted_bug(bug) == nullptr) {
    std::fprintf(stderr, "REGDUEL_PLANT=%s: %s\n", bug,
                 trial::has_planted_bugs() ? "there is no such planted bug" : "this build has no planted bugs");
    std::exit(2);
  }
  trial::plant(bug);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
#ifdef REGDUEL_FUZZ_STRUCTURED
  // Ignore inputs under 16 bytes. Engines send them at the start to see whether the target runs at all (libFuzzer sends none, then
  // a line feed; AFL++ sends four bytes of its own). decode_case would turn them into a random program, and a finding there would
  // end the engine.
  constexpr std::size_t kLeast = 16;
  if (size < kLeast) return 0;
#endif
  if (const auto wrong = target().body({data, size})) {
    std::fprintf(stderr, "%s\n", wrong->c_str());
    std::fflush(stderr);
    std::abort();
  }
  return 0;
}

#ifdef REGDUEL_FUZZ_STRUCTURED
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed) {
  const std::vector<std::uint8_t> child = targets::mutate_bytes({data, size}, max_size, seed);
  std::copy(child.begin(), child.end(), data);
  return child.empty() ? std::min(size, max_size) : child.size();
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size, const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out, std::size_t max_out_size,
                                                 unsigned int seed) {
  const std::vector<std::uint8_t> child = targets::cross_bytes({first, first_size}, {second, second_size}, max_out_size, seed);
  std::copy(child.begin(), child.end(), out);
  return child.size();
}
#endif
