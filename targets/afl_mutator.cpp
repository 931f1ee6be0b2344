// The custom mutator of AFL++ for the structured targets: a library of its own, which afl-fuzz loads (AFL_CUSTOM_MUTATOR_LIBRARY;
// use it with AFL_CUSTOM_MUTATOR_ONLY=1, for AFL++'s own mutations mostly turn a program into bytes that stand for another). Its
// mutations are those that libFuzzer gets.
//
// Source: AFL++ docs/custom_mutators.md. Tested by afl_mutator_test.cpp.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "targets/bytes_mutator.h"

namespace {

constexpr int kCrossPercent = 20;

// AFL++ reads the child before it asks for the next one, so its bytes live here.
struct Mutator {
  regduel::Random random;
  std::vector<std::uint8_t> child;
};

}  // namespace

extern "C" {

void* afl_custom_init(void* /*afl_state*/, unsigned int seed) { return new Mutator{regduel::Random(seed), {}}; }

std::size_t afl_custom_fuzz(void* data, std::uint8_t* bytes, std::size_t size, std::uint8_t** out, std::uint8_t* other,
                            std::size_t other_size, std::size_t max_size) {
  Mutator& m = *static_cast<Mutator*>(data);
  const bool has_other = other != nullptr && other_size > 0;
  if (has_other && m.random.chance(kCrossPercent))
    m.child = regduel::targets::cross_bytes({bytes, size}, {other, other_size}, max_size, m.random.next());
  else m.child = regduel::targets::mutate_bytes({bytes, size}, max_size, m.random.next());
  *out = m.child.data();
  return m.child.size();
}

void afl_custom_deinit(void* data) { delete static_cast<Mutator*>(data); }

#ifdef REGDUEL_COVERAGE_UNUSED
// The library is made of the same objects as the target, which count what they run; in afl-fuzz itself the counts are dropped.
void __sanitizer_cov_trace_pc_guard(std::uint32_t*) {}
void __sanitizer_cov_trace_pc_guard_init(std::uint32_t*, std::uint32_t*) {}
#endif
}
