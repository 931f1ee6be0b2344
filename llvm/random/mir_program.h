// A random program of RIR as a machine function of LLVM, whose operations are inline assembly: any number of operands of any class, tied,
// early-clobber, in fixed registers, parts of tuples, clobbers.
//
//   operation   INLINEASM; a def that keeps something (guarded, a part, def-use, tied) is tied to a use of the same register
//   copy        COPY, where one whole register goes to another of its class; none to itself, which no pass of LLVM makes and by which
//               the coalescer loses lanes (docs/llvm-findings.md)
//   phi         a copy to a register of its own, and from there, at the end of each predecessor
//   fixed       COPY from and to the physical register
//   branch      a chain of conditional branches, whose condition is undefined
//
// Valid by construction, which the machine verifier confirms: blocks that cannot be reached are left out; what may be read before it is written
// is defined at the entry; of the operands of one instruction as many are kept as surely fit (Machine::budget). The result means what LLVM
// says that it means: the program of RIR only gives it its form.
// Tested by mir_program_test.cpp.
#pragma once

#include <span>
#include <string>

#include "ir/program.h"
#include "llvm/random/machine.h"
#include "llvm/random/mir_form.h"

namespace regduel::llvm {

// Requires a program over vregs. Cost: O(size x vregs / 64).
[[nodiscard]] MirFunction mir_function(const ir::Function& program, const Machine& machine);
// A .mir file of these functions, named p0, p1 ...
[[nodiscard]] std::string mir_file(std::span<const MirFunction> functions, const Machine& machine);

}  // namespace regduel::llvm
