// The locations that may hold a value which is the same in all threads of a warp. An inserted instruction may copy only such a
// value into a register of a uniform file (UR, UP, UB), because a warp has one such register.
//
//   uniform(v)  for a root v: v is of a uniform file, or marked `uniform`, or an original copy, phi, pack or unpack moves v into a
//               root that is uniform
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
// No finding is made if a uniform root may be read before it is defined, because its content may be anything.
// The least solution: a location that is not in `may` at a point holds no such value there.
// Source: FORMAT.md "Uniform". Cost: O(blocks * locations + operands) a round, rounds as by nested loops; none if no inserted
// instruction writes a uniform file from another file. Tested by uniform_sources_test.cpp.
#pragma once

#include <vector>

#include "ir/program.h"
#include "oracles/judge.h"

namespace regduel::oracles {

// Inserted instructions of `after`, as ascending indices, that put a value into a uniform file that cannot be the same in all
// threads.
[[nodiscard]] std::vector<std::uint32_t> per_thread_values_made_uniform(const Case& c);

}  // namespace regduel::oracles
