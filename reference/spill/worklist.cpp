#include "reference/spill/worklist.h"

#include <algorithm>
#include <utility>

namespace regduel::reference {

std::vector<std::uint32_t> reverse_postorder(const Code& code) {
  std::vector<std::uint32_t> order;
  std::vector<std::uint8_t> visited(code.blocks.size(), 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{0, 0}};
  visited[0] = 1;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == code.successors[block].size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::uint32_t s = code.successors[block][next++];
    if (visited[s]) continue;
    visited[s] = 1;
    stack.emplace_back(s, 0);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace regduel::reference
