// Where a value may stand that is the same in all threads of a warp: what an inserted instruction may put into a register of a
// uniform file (UR, UP, UB), of which a warp has one.
//
//   uniform(v)  for a root v: it is in a uniform file, or marked `uniform`, or an original copy, phi, pack or unpack moves it into
//               one that is uniform
//   may(L)      for a register unit or a slot L at a point of the program after; where paths meet, if it holds on one of them:
//               at the entry, if no instruction writes L, if L is a unit of a uniform file (all threads read the same undefined
//                 content), or if may(L) holds at some other point (on the way from the entry L is undefined); an architectural
//                 register of a root v if uniform(v), and not otherwise
//               behind an original instruction, if L stands for a def of a root v with uniform(v) in the program before
//               behind an instruction that moves values, original or inserted, into L: if may(M) holds before it for a source M
//               behind a remat of an original instruction that defines a root v with uniform(v)
//               behind a clobber of L, a unit of a uniform file
//               behind any other write of L no longer, unless it is guarded, of a part of L, or L is a slot
//
// Nothing is said where a uniform root may be read before it is defined: what it holds there may be anything.
// The least such sets: a location that is not in `may` at a point holds no such value there, one that is may.
// Source: FORMAT.md "Uniform". Cost: O(blocks * locations + operands) a round, rounds as by nested loops; nothing where no inserted
// instruction writes a uniform file from another one. Tested by structure_test.cpp.
#pragma once

#include <vector>

#include "ir/program.h"
#include "oracles/judge.h"

namespace regduel::oracles {

// Inserted instructions of `after`, as indices in ascending order, that put into a uniform file what cannot be the same in all
// threads.
[[nodiscard]] std::vector<std::uint32_t> per_thread_values_made_uniform(const Case& c);

}  // namespace regduel::oracles
