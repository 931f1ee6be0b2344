// See edges.h.
#include "base/edges.h"

#include <algorithm>
#include <bit>
#include <span>

namespace regduel {
namespace {

std::span<std::uint8_t> counters;

std::uint32_t bucket(std::uint8_t count) {
  if (count <= 3) return count - 1u;
  if (count >= 32) return count >= 128 ? 7 : 6;
  return static_cast<std::uint32_t>(std::bit_width(count));  // 4-7: 3, 8-15: 4, 16-31: 5
}

}  // namespace

std::size_t num_edges() { return counters.size(); }

void clear_edges() { std::fill(counters.begin(), counters.end(), std::uint8_t{0}); }

std::vector<std::uint32_t> edges_hit() {
  std::vector<std::uint32_t> hit;
  for (std::size_t k = 0; k < counters.size(); ++k)
    if (counters[k] != 0) hit.push_back(static_cast<std::uint32_t>(k * 8) + bucket(counters[k]));
  return hit;
}

}  // namespace regduel

#ifdef REGDUEL_EDGES
// Called by the instrumented code, once, before main.
extern "C" void __sanitizer_cov_8bit_counters_init(std::uint8_t* start,
                                                   std::uint8_t* stop) {  // NOLINT(bugprone-reserved-identifier)
  regduel::counters = {start, stop};
}
#endif
