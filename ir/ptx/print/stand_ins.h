// Real instructions in the place of operations that have no meaning: arithmetic on all the words that an operation reads makes the words that it
// writes, memory is read and written where the operation does, and each has numbers of its own, so that ptxas can leave out or merge none whose
// result is stored in the end.
#pragma once

#include "ir/program.h"
#include "ir/ptx/print/lines.h"

namespace regduel::ir::ptx {

// Bytes of the module's variables that stand-ins read and write.
inline constexpr int kStandInBytes = 4096;

// Writes a named operation, a barrier or a call. Requires that each root has elements of four bytes.
void print_stand_in(const Function& f, const Inst& i, Lines& lines);

}  // namespace regduel::ir::ptx
