// A quick test, without dataflow: whether a value may come out of a uniform register and be read as that of a vreg which may vary by
// thread. Only then can a uniform register have spoilt something. Tested by escapes_test.cpp.
//
//   from(L)   L, a register unit or a slot, is a unit of a uniform file; or an instruction moves into L from some M with from(M):
//             an inserted one, an original copy that is a spill or a refill, or one of a vreg that may vary by thread. Where no such
//             instruction writes a uniform register, these hold what the program itself puts there, so an original copy that reads
//             one as a vreg that is the same in all threads does not count
//   escapes   an original instruction, a remat, or the caller of the function reads L with from(L) as something that may vary
#pragma once

#include <vector>

#include "oracles/judge.h"

namespace regduel::oracles::uniform {

// By vreg of the program before: its root is of a uniform file, or the root or an alias of it is marked `uniform`.
[[nodiscard]] std::vector<char> declared_vregs(const ir::Function& before);

// Cost: O(size of after), times the moves of the longest chain between files.
[[nodiscard]] bool may_escape(const Case& c, const std::vector<char>& declared);

}  // namespace regduel::oracles::uniform
