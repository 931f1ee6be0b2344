// A worklist of blocks, visited in sweeps along a given order, so that most blocks come after those on which they depend: the
// reverse postorder for forward dataflow, the postorder for backward dataflow. Tested by lazy_refill_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/program/code.h"

namespace regduel::reference {

// Reachable blocks, each after its predecessors as far as loops allow.
[[nodiscard]] std::vector<std::uint32_t> reverse_postorder(const Code& code);

class Worklist {
 public:
  Worklist(std::size_t blocks, const std::vector<std::uint32_t>& order) : order_(order), waiting_(blocks, 0) {
    for (const std::uint32_t b : order_) waiting_[b] = 1;
  }
  void push(std::uint32_t b) {
    waiting_[b] = 1;
    more_ = true;
  }
  // Calls visit(b) for each block of the order, and again for each that it pushes.
  template <class Visit>
  void run(Visit&& visit) {
    do {
      more_ = false;
      for (const std::uint32_t b : order_)
        if (waiting_[b]) {
          waiting_[b] = 0;
          visit(b);
        }
    } while (more_);
  }

 private:
  const std::vector<std::uint32_t>& order_;
  std::vector<std::uint8_t> waiting_;
  bool more_ = false;
};

}  // namespace regduel::reference
