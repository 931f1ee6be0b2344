// What the program before may read undefined. Tested by undefined_reads_test.cpp.
#pragma once

#include <vector>

#include "oracles/before.h"

namespace regduel::oracles::uniform {

// By operand of the program before (its index among all of them), of the instructions in `asked` (by instruction): 1 = it is read, and
// on some path some byte of it may be undefined. What a guarded instruction writes, and what is moved from a vreg that is not in
// `declared` (by vreg), count as undefined. Cost: O(size of the program), as bit_flow.h says.
[[nodiscard]] std::vector<char> undefined_reads(const Before& before, const std::vector<char>& declared,
                                                const std::vector<char>& asked);

}  // namespace regduel::oracles::uniform
