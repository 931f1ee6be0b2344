// The merges of a pass, and whether each was allowed: told from the program before and the program after, by values.
//
// Two roots of the program before were merged where the program after names one root in place of both. From then on they are one
// register, which holds what was written last to either. So each member of a class of merged roots is, at each point and byte by
// byte,
//   defined   on some path it has been written
//   stale     on some path it is defined, and the register holds what was written to another member since
// and a read of what is stale reads what is wrong. A copy between two members is no write: it makes the def as stale as its
// source; nor is a move of bytes that a fresh member holds already, told by numbers of bytes within a block. Everything else that
// writes a member makes the defined bytes of all others stale. An early-clobber def does so before
// the reads, a guarded one leaves its own member as stale as it may have been, and phis write on the edges. What is defined on no
// path is stale on none, so that undefined reads are no faults. The analysis is distributive over paths: it is exact for each
// member.
//
// No liveness, no interval and no interference graph has a part in it. Not decided are classes that the pass writes by copies of
// its own, or whose copies it has left out though it merged no two ends of them; and roots of which it has renamed some operands
// and not others. Tested by merges_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace regduel::properties {

struct MergeReport {
  int merged = 0;                   // roots that have become another one, or one with another
  int undecided = 0;                // of them
  std::vector<std::string> faults;  // merged roots that are live with two values, or are of two shapes
};
struct MergeRules {
  bool by_type = false;  // integers and floats are of two shapes
};
// Requires: both well-formed, over vregs, `after` the result of a pass on `before`.
[[nodiscard]] MergeReport check_merges(const ir::Function& before, const ir::Function& after, MergeRules rules = {});

}  // namespace regduel::properties
