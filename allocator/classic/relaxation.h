// Relaxation: each retry leaves out more of the first soft constraints, and with banks also some of the last. The caller has sorted
// them by ascending weight.
//
// Iteration n leaves out the first n x knob 642 soft constraints of a vreg (or of its whole coalesced class, which is walked as
// one) and, where knob 641 makes the allocation bank-aware, those past the ceiling: all of them less n x knob 643. Iteration 0
// keeps all. Source: source 000 "Step 5: Iteration-Dependent Constraint Relaxation"; DECISIONS: the formula of step 4 holds. Tested
// by relaxation_test.cpp.
#pragma once

#include <cstdint>

namespace regduel::allocator {

struct Relaxation {
  std::int64_t iteration = 0;
  std::int64_t each = 0;          // knob 642
  std::int64_t ceiling_step = 0;  // knob 643
  bool bank_aware = false;        // knob 641

  //   nth    the constraint's place among the soft ones, from 1
  //   soft   how many soft ones there are
  [[nodiscard]] constexpr bool leaves_out(std::int64_t nth, std::int64_t soft) const {
    if (iteration == 0) return false;
    return nth <= iteration * each || (bank_aware && nth > soft - iteration * ceiling_step);
  }
};

}  // namespace regduel::allocator
