// See interference.h.

#include "allocator/classic/interference.h"

#include <utility>
#include <vector>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

InterferenceLists::InterferenceLists(const Function& f, const Liveness& live, std::span<const VRegId> vregs) {
  struct Piece {
    Interval range;
    VRegId vreg;
  };
  const Grouped<Piece> begins(live.num_numbered(), [&](auto add) {
    for (const VRegId v : vregs)
      if (!f.vreg(v).is_architectural())
        for (const Interval& i : live.range(v.index())) add(i.begin.inst(), Piece{i, v});
  });
  std::vector<Piece> open;
  std::vector<std::pair<VRegId, VRegId>> pairs;
  pairs.reserve(8 * vregs.size());
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    if (begins[n].empty()) continue;
    std::erase_if(open, [&](const Piece& p) { return p.range.end <= read_point(n); });
    for (const Piece& p : begins[n]) {
      for (const Piece& other : open) {
        bool overlaps = p.range.overlaps(other.range);
        if (REGDUEL_PLANTED("classic-defs-of-one-instruction-share") && p.range.begin == other.range.begin) overlaps = false;
        if (overlaps && p.vreg != other.vreg) pairs.emplace_back(p.vreg, other.vreg);
      }
      open.push_back(p);
    }
  }
  lists_.build(f.vregs.size(), [&](auto add) {
    for (const auto& [a, b] : pairs) {
      add(a.index(), b);
      add(b.index(), a);
    }
  });
}

}  // namespace regduel::allocator
