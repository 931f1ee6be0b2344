// Which registers hold, on every path, the value of a vreg that is the same in all threads of a warp: a must-analysis of the program
// after by cell, by bit of packs, against the names of the program before. Tested by contents_test.cpp.
//
//   contents(L)   at a point: words of declared vregs (declared_vregs in escapes.h) of which L holds the value that they have now, or
//                 the result of a `const`; at most two. An unguarded def in L gives its vreg, a guarded def keeps it, moves carry it,
//                 a copy of the program, or a phi on its edge, adds its def to what holds its use. Any other write of L, or def of
//                 the vreg, takes it away
#pragma once

#include <vector>

#include "ir/cfg.h"
#include "oracles/judge.h"
#include "oracles/pair/cells.h"

namespace regduel::oracles::uniform {

// By operand of the program after (its index among all of them): 1 = a uniform register, all that is read of which has a content.
//   cells, cfg     of the program after
//   is_undefined   of the copies of the program, by operand of the program before (undefined_reads.h)
// Cost: rounds x (size of after + contents at heads of blocks + contents x defs of declared vregs).
[[nodiscard]] std::vector<char> reads_of_contents(const Case& c, const Cells& cells, const ir::Cfg& cfg,
                                                  const std::vector<char>& declared, const std::vector<char>& is_undefined);

}  // namespace regduel::oracles::uniform
