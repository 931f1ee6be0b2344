// Where a value may stand that is the same in all threads of a warp: what an inserted instruction may put into a register of a
// uniform file (UR, UP, UB), of which a warp has one.
//
//   uniform(v)  for a root v: it is in a uniform file, or marked `uniform`, or an original copy, phi, pack or unpack moves it into
//               one that is uniform
//   may(L)      for a register unit or a slot L, where one of these holds:
//               no instruction writes L, which is undefined then, unless it is architectural: that holds something from the entry
//               on L is a unit of a uniform file that may be read before it is written, from the entry or from a clobber of it on:
//               all threads read the same undefined content
//               L is an architectural register of a root v with uniform(v)
//               an original instruction writes L that defines a root v in the program before, with uniform(v)
//               an instruction writes L that moves values, original or inserted, from an M with may(M)
//               a remat writes L of an original instruction that defines a root v with uniform(v)
//
// Nothing is said where a uniform root may be read before it is defined: what it holds there may be anything.
// The least such sets, of the whole function at once: a location that is not in `may` never holds such a value, one that is may.
// Source: FORMAT.md "Uniform". Cost: O(operands) a round, as many rounds as a value is moved on backwards in the text; nothing
// where no inserted instruction writes a uniform file from another one. Tested by structure_test.cpp.
#pragma once

#include <vector>

#include "ir/program.h"
#include "oracles/report.h"

namespace regduel::oracles {

// Inserted instructions of `after`, as indices in ascending order, that put into a uniform file what cannot be the same in all
// threads.
[[nodiscard]] std::vector<std::uint32_t> per_thread_values_made_uniform(const Case& c);

}  // namespace regduel::oracles
