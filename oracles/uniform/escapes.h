// A quick test: whether a value may come out of a uniform register and be read as that of a vreg which may vary by thread. Only then
// can a uniform register have spoilt something. Tested by escapes_test.cpp.
//
//   from(L)   at a point, of a byte (of a pack: a bit) of a register unit of another file or of the frame: on some path its content
//             was moved out of a uniform register, by an inserted instruction, a spill or refill, or a copy, phi, pack or unpack of the
//             program. Where such a copy reads a vreg that is the same in all threads, and all of it is defined there, the register
//             holds just that, so it does not count (undefined_reads.h)
//   spoilt    an inserted instruction writes some uniform register under a guard, so that the threads in which it does not hold may find
//             there what others wrote
//   escapes   an original instruction, a remat, or the caller of the function reads L with from(L), or a uniform register, as something
//             that may vary; where a register may be spoilt, as anything
#pragma once

#include <cstdint>
#include <vector>

#include "oracles/judge.h"

namespace regduel::oracles::uniform {

// By vreg of the program before: its root is of a uniform file, or the root or an alias of it is marked `uniform`.
[[nodiscard]] std::vector<char> declared_vregs(const ir::Function& before);

struct FoundEscapes {
  bool any = false;
  // The instructions of the program after (indices, ascending) by which from(L) comes about, or which read a uniform register so that it
  // escapes. Nothing escapes if all that these read from uniform registers is the same in all threads; none are given where a register
  // may be spoilt, since then that says nothing.
  std::vector<std::uint32_t> sources;
};
// Cost: O(size of after), as bit_flow.h and contents.h say.
[[nodiscard]] FoundEscapes find_escapes(const Case& c, const std::vector<char>& declared);

}  // namespace regduel::oracles::uniform
