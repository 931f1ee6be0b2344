// Cleaning: what the program computes without need goes, so that less lives.
//
//   1  copies are propagated (copyprop.h)
//   2  %1 = cvta.to.global.u64 %0        readers of %1 read %0, since a generic address of global memory is that address
//   3  %1 = add.s64 %0, 16
//      %2 = ld.global.u32 %1, 8          %2 = ld.global.u32 %0, 24; and sums of sums with numbers likewise. Only where no reader of %1
//                                        is left, so that %0 lives in place of %1 and of all others with this base
//   4  what nothing reads is left out, loads that need not happen too
//
// 2 and 3 are for roots with one def (values.h); the base of 3 may also be another root that nothing writes between the sum and its
// readers in one block. Tested by clean_test.cpp, and against the judge by properties/rewritings_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

[[nodiscard]] const Pass& clean();

// The program without instructions whose defs nothing reads that is there for an effect (mobility.h).
[[nodiscard]] ir::Function without_dead_code(const ir::Function& f, ir::Fuel* fuel);

}  // namespace regduel::passes
