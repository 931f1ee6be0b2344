// Facts of one program with or without spill code that guidance and all attempts of a round share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "allocator/program/point_limits.h"
#include "base/grouped.h"
#include "ir/program.h"

namespace regduel::allocator {

// Facts by register file, found in one pass over the program.
struct RoundIndex {
  RoundIndex(const ir::Function& f, const Liveness& live, PointLimits limits = {});
  [[nodiscard]] static std::vector<std::uint32_t> find_bound(const ir::Function& f, const Liveness& live,
                                                             const PointLimits& limits);

  Grouped<ir::VRegId> vregs;       // by file: those with a live range, ascending
  ir::PerFile<int> max_live = {};  // largest number of units live at one moment
  PointLimits limits;              // of R
  // Numbers of the rets, of the instructions with clobbers, and of those at which R has a lower limit; ascending.
  std::vector<std::uint32_t> bound;
};

// By vreg: the instructions at which a temporary would replace it if it were spilled, ascending, each once. Copies, spills and
// refills are left out: they become a refill or spill themselves.
class TemporaryLists {
 public:
  struct At {
    std::uint32_t number;       // of the instruction
    bool while_reading, after;  // whether the temporary lives at R, and after W
    bool may_vanish;            // the instruction may be replaced by remats elsewhere
  };
  TemporaryLists(const ir::Function& f, const Liveness& live);
  [[nodiscard]] std::span<const At> operator[](ir::VRegId v) const { return at_[v.index()]; }

 private:
  Grouped<At> at_;
};

}  // namespace regduel::allocator
