// Constant instructions of a program before allocation: those that compute the same value whenever they are executed.
//
//   constant(k) = may be repeated(k) and, for each register use of k, constant(the only def of its root)      the least solution
//
// An instruction may be repeated if it is marked !remat, and has no effect but its one def. Tested by state_pieces_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"
#include "oracles/pair/cells.h"

namespace regduel::oracles::symbolic {

[[nodiscard]] bool may_be_repeated(const ir::Inst& i);

struct Constants {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::vector<std::uint8_t> is_constant;  // by instruction
  std::vector<std::uint32_t> sole_def;    // by root: the only instruction that writes it; kNone = no instruction, or more than one
};
// A constant instruction defines its root as a whole, and reads only roots that such an instruction alone writes.
// `names`: those of the program. Cost: O(operands).
[[nodiscard]] Constants find_constants(const ir::Function& before, const Cells& names);

}  // namespace regduel::oracles::symbolic
