// Facts of one program with or without spill code that guidance and all attempts of a round share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "base/grouped.h"
#include "ir/program.h"

namespace regduel::allocator {

// What each file would have to look for in the whole program.
struct RoundIndex {
  RoundIndex(const ir::Function& f, const Liveness& live);

  Grouped<ir::VRegId> vregs;         // by file: those with a live range, ascending
  ir::PerFile<int> max_live = {};    // largest number of units live at one moment
  std::vector<std::uint32_t> bound;  // numbers of the rets and of the instructions with clobbers, ascending
};

// By vreg: where a temporary would stand for it, were it spilled. Ascending, each instruction once. Not at copies, spills and
// refills: these become a refill or spill themselves.
class TemporaryLists {
 public:
  struct At {
    std::uint32_t number;       // of the instruction
    bool while_reading, after;  // the instruction
    bool may_vanish;            // it can be computed again elsewhere
  };
  TemporaryLists(const ir::Function& f, const Liveness& live);
  [[nodiscard]] std::span<const At> operator[](ir::VRegId v) const { return at_[v.index()]; }

 private:
  Grouped<At> at_;
};

}  // namespace regduel::allocator
