// Real instructions in the place of operations that have no meaning: arithmetic on all the words that an operation reads makes the words that it
// writes, memory is read and written where the operation does, and each has numbers of its own, so that ptxas can leave out or merge none whose
// result is stored in the end.
#pragma once

#include <vector>

#include "ir/program.h"
#include "ir/ptx/print/lines.h"

namespace regduel::ir::ptx {

// Bytes of the module's variables that stand-ins read and write.
inline constexpr int kStandInBytes = 4096;

// Writes a named operation or a barrier. Requires that each root has elements of four bytes at most.
//   is_read   by root: whether any instruction reads it
void print_stand_in(const Function& f, const Inst& i, const std::vector<char>& is_read, Lines& lines);
// ... of all roots of a function.
[[nodiscard]] std::vector<char> roots_that_are_read(const Function& f);

}  // namespace regduel::ir::ptx
