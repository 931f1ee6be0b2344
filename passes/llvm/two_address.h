// Two-address form: a def that is tied to a use of another vreg reads and writes one vreg where that use's value lives on.
//
//   %1{tied 1} = add %0, 2          // %0 is read later            %1 = copy %0
//                                                                   %1{tied 1} = add %1, 2
//
// So the copy that an allocator would have to make is there for the coalescer to see. Where the tied use dies at the instruction
// nothing is needed: the two can be joined as they are. All other reads of %0 in the instruction that are not fixed read %1 too, so
// that it holds no more registers than before. Left alone are ties whose def is read by the instruction, whose use is written by
// it, and whose operands are fixed, architectural, or differ in class or alignment.
//
// Rescheduling (LLVM's rescheduleKillAboveMI and rescheduleMIBelowKill; knob twoaddr-reschedule, source 004): where all that still
// reads %0 behind the instruction are copies of it in the same block, at most 10 instructions away, they are moved before it, and
// %0 dies at the instruction after all; no copy is added.
//
//   %1{tied 1} = add %0, 2                                          %2 = copy %0
//   %2 = copy %0                    // the last read of %0          %1{tied 1} = add %0, 2
//
// LLVM moves any instruction that kills %0 up, and the two-address instruction down. A pass keeps the order of all instructions but
// copies (FORMAT.md, "Passes"), so here the killing instructions must be copies, of one pair, unguarded, that clobber nothing and
// are fixed to nothing; a moved copy is a new one, and the old one is left out. LLVM also commutes operands and makes three-address
// instructions; operands keep their places here.
//
// Source: LLVM's TwoAddressInstruction. Cost: O(operands x 10). Tested by two_address_test.cpp.
#pragma once

#include "ir/allocator.h"
#include "ir/program.h"

namespace regduel::passes::llvm {

[[nodiscard]] ir::Function make_two_address(const ir::Function& f, bool reschedule, ir::Fuel* fuel, ir::Trace* trace);

}  // namespace regduel::passes::llvm
