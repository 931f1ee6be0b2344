// Interference lists: for each vreg of one file the vregs that live at one time with it, which are its constraints of type 0.
//
// They are built once for all attempts at a file (source 000: interference masks are built before the first attempt), by a sweep over
// the instructions with the list of ranges that are open. A pair stands there once for each two of their intervals that overlap. Only
// files whose points are within their budget are swept, so that no list of open ranges is longer than the file has units.
// Architectural vregs are left out, since no other vreg may stand in their registers anyhow.
//
// Source: source 000 "Constraint Types" (0), "Interference Builder". Tested by interference_test.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "ir/program.h"

namespace regduel::allocator {

class InterferenceLists {
 public:
  //   vregs   of one file
  // Cost: O(instructions + pairs).
  InterferenceLists(const ir::Function& f, const Liveness& live, std::span<const ir::VRegId> vregs);

  [[nodiscard]] std::span<const ir::VRegId> of(ir::VRegId v) const {
    return {lists_.data() + begin_[v.index()], lists_.data() + begin_[v.index() + 1]};
  }

 private:
  std::vector<std::size_t> begin_;  // by vreg: of its list
  std::vector<ir::VRegId> lists_;
};

}  // namespace regduel::allocator
