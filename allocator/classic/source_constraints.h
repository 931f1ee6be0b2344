// Constraints of types 1 to 3 and 5 to 8 on the home of a vreg, from the role of each operand of a program with its spill code.
//
//   a fixed operand             2   of a vreg with no other affinity: all but that register
//   several fixed operands      1   each spares the registers of the others, which it would have to leave first
//   a copy to or from a vreg
//   that lives across a call    3   below the first register that the call keeps
//   a wide use and a def        5, 6 for a scalar def, one constraint a half; 7 for a wide one: it spares the tuple, so that no
//                                   half of it is taken while the other is free
//   phis                        8   the parity of the others, lightly, since most phis vanish by coalescing
//
// Type 0 stands in the interference lists (interference.h); types 4 and 9 to 15 are those of both allocators (assign/constraints.h).
// Type 2 is hard, the others are soft. Architectural vregs, barriers of phis, and vregs without a live range have no constraints.
//
// Source: source 000 "Constraint Types", "Interference Builder"; DECISIONS on types 1 to 8. Tested by source_constraints_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/assign/constraints.h"

namespace regduel::allocator {

class SourceConstraints {
 public:
  //   affinities   the constraints of type 15 of the same program
  //   types        a bit a type: those that are made
  // Cost: O(operands), for type 1 at most kMaxSquare times the fixed operands.
  SourceConstraints(const ir::Function& original, const ir::Function& f, std::span<const std::int64_t> block_frequency,
                    const Liveness& live, const ConstraintLists& affinities, std::uint32_t types);

  [[nodiscard]] std::span<const Constraint> of(ir::VRegId v) const {
    return lists_.num_keys() == 0 ? std::span<const Constraint>() : lists_[v.index()];
  }

 private:
  Grouped<Constraint> lists_;  // by vreg; empty where there are none
};

}  // namespace regduel::allocator
