// See interference.h.

#include "allocator/classic/interference.h"

#include "allocator/program/names.h"
#include "base/grouped.h"
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
  // The pieces that are open where a piece begins interfere with it; the pairs are listed piece after piece, and counted by vreg.
  std::vector<Piece> open;
  std::vector<VRegId> met;
  std::vector<std::size_t> met_end;
  met.reserve(8 * begins.items().size());
  met_end.reserve(begins.items().size());
  begin_.assign(f.vregs.size() + 2, 0);
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    if (begins[n].empty()) continue;
    std::erase_if(open, [&](const Piece& p) { return p.range.end <= read_point(n); });
    for (const Piece& p : begins[n]) {
      const std::size_t before = met.size();
      for (const Piece& other : open) {
        bool overlaps = p.range.overlaps(other.range);
        if (REGDUEL_PLANTED("classic-defs-of-one-instruction-share") && p.range.begin == other.range.begin) overlaps = false;
        if (!overlaps || p.vreg == other.vreg) continue;
        met.push_back(other.vreg);
        ++begin_[other.vreg.index() + 2];
      }
      begin_[p.vreg.index() + 2] += met.size() - before;
      met_end.push_back(met.size());
      open.push_back(p);
    }
  }
  for (std::size_t k = 2; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
  lists_.resize(begin_.back());
  // begin_[v + 1] runs from the begin of the list of v to that of the next one.
  std::size_t k = 0, next = 0;
  for (const Piece& p : begins.items()) {
    for (; k < met_end[next]; ++k) {
      lists_[begin_[p.vreg.index() + 1]++] = met[k];
      lists_[begin_[met[k].index() + 1]++] = p.vreg;
    }
    ++next;
  }
}

}  // namespace regduel::allocator
