// The instructions of a program by their numbers. Numbers are mostly dense, then this is one array; where they are not, a sorted
// one. Tested through structure_test.cpp and execution_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace regduel::oracles {

class IdIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  IdIndex() = default;
  // Requires: ids are unique. Cost: O(instructions), O(n log n) where ids are sparse.
  explicit IdIndex(const ir::Function& f) {
    constexpr std::size_t kSparse = 4, kSmall = 1024;
    std::size_t end = 0;
    for (const ir::Inst& i : f.insts) end = std::max<std::size_t>(end, std::size_t{i.id.value} + 1);
    if (end <= kSparse * f.insts.size() + kSmall) {
      dense_.assign(end, kNone);
      for (std::size_t k = 0; k < f.insts.size(); ++k) dense_[f.insts[k].id.value] = static_cast<std::uint32_t>(k);
      return;
    }
    for (std::size_t k = 0; k < f.insts.size(); ++k) sparse_.emplace_back(f.insts[k].id.value, static_cast<std::uint32_t>(k));
    std::sort(sparse_.begin(), sparse_.end());
  }

  // Position in Function::insts, kNone where there is no such instruction.
  [[nodiscard]] std::uint32_t find(ir::InstId id) const {
    if (id.value < dense_.size()) return dense_[id.value];
    const auto it = std::lower_bound(sparse_.begin(), sparse_.end(), std::pair(id.value, std::uint32_t{0}));
    return it != sparse_.end() && it->first == id.value ? it->second : kNone;
  }

 private:
  std::vector<std::uint32_t> dense_;                             // by id
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sparse_;  // id, position
};

}  // namespace regduel::oracles
