// Where vregs are written, and whether two vregs that live at one time hold one value.
//
// Two vregs can share a register if they never live at the same time, or if, wherever they do, they hold the same value: as for
// Chaitin, the source of a copy does not interfere with its destination. Two vregs hold the same value if each def of one at which
// the other lives is a copy from the other, or from a vreg that is one with it. Used by coalesced_classes.h and merge_copies.h, and tested by their
// tests.
#pragma once

#include <span>

#include "allocator/program/liveness.h"
#include "base/grouped.h"
#include "ir/program.h"

namespace regduel::allocator {

// By vreg: its defs, and the source of each that is a plain copy.
class DefLists {
 public:
  //   is_wanted   by vreg
  DefLists(const ir::Function& f, const Liveness& live, std::span<const char> is_wanted);
  // True if no def of x changes the value of y while y lives. Two defs of one instruction never share a register, not even in
  // a parallel copy that swaps two equal values.
  //   is_one_with_y   of a vreg: whether it is known to hold the value of y wherever both live
  template <class IsOneWithY>
  [[nodiscard]] bool spares(ir::VRegId x, ir::VRegId y, std::span<const Interval> y_range, IsOneWithY is_one_with_y) const {
    for (const Def& d : defs_[x.index()]) {
      const bool keeps = d.source.is_valid() && (d.source == y || is_one_with_y(d.source));
      if (!keeps && (contains(y_range, d.point) || contains(y_range, d.last))) return false;
      if (is_written_with(y, d.last)) return false;
    }
    return true;
  }

 private:
  struct Def {
    Point point, last;  // the first and the last moment at which it holds the register
    ir::VRegId source;
  };
  [[nodiscard]] bool is_written_with(ir::VRegId v, Point p) const;

  Grouped<Def> defs_;  // by vreg, in program order, so that the moments ascend
};

}  // namespace regduel::allocator
