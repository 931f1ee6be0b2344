// An original with operands in memory: which of its registers are there no more, and which of those that it has belong to which operand.
#pragma once

#include <vector>

#include "llvm/mapping/rir.h"

namespace regduel::llvm {

struct Fold {
  std::vector<int> in_memory;                 // operands of the original, ascending
  std::vector<std::pair<int, int>> in_place;  // operand of the original, operand of what is there now; explicit ones alone
};

// Throws Refusal: no choice of operands fits, or several do that differ in the vreg.
//   home    the vreg whose slot the instruction names; -1 = none: a load was folded in,
//   value   and this is the number of the load
[[nodiscard]] Fold find_fold(const Inst& original, const Dump& before, const Inst& now, const Dump& after, const Cells& cells,
                             int home, int value);

}  // namespace regduel::llvm
