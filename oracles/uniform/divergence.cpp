// Labels are pulled along the edges in reverse postorder until nothing changes; a label of its own is kept. See divergence.h.

#include "oracles/uniform/divergence.h"

#include <algorithm>

namespace regduel::oracles::uniform {

void mark_meeting_points(const Blocks& successors, const Blocks& predecessors, std::span<const std::uint32_t> order,
                         std::uint32_t branch, std::vector<char>& meets) {
  constexpr std::uint32_t none = 0xFFFFFFFF;
  const auto& targets = successors[branch];
  if (std::ranges::all_of(targets, [&](std::uint32_t s) { return s == targets.front(); })) return;
  std::vector<std::uint32_t> label(successors.size(), none);
  for (const std::uint32_t s : targets) label[s] = s;
  for (bool grew = true; grew;) {
    grew = false;
    for (const std::uint32_t b : order) {
      const bool is_own = label[b] == b;
      std::uint32_t found = is_own ? b : none;
      for (const std::uint32_t p : predecessors[b]) {
        const std::uint32_t l = p == branch ? none : label[p];
        if (l == none || l == found) continue;
        if (is_own) meets[b] = 1;
        found = found == none ? l : b;
      }
      if (is_own || found == label[b]) continue;
      label[b] = found;
      grew = true;
    }
  }
}

}  // namespace regduel::oracles::uniform
