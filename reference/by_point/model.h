// Spilling by point (Appel, George 2001) as a question for the cheapest set: a value may be in a register at one point and in memory
// at another.
//
// A *content* is what the temps hold that are equal at a point (contents.h): copies and phis make no new one. In a block a content lives
// from the head, or from the instruction that writes it, to its last read. The elements of the set, each 1 where it is taken:
//
//   out(c, s)       the content is in no register, on the stretch s of its life between two instructions that name it
//   memory(c)       its slot holds the content, from its first point in the block on: a later store costs as much
//   saved(u)        the callee-saved unit u is in use
//
//   store           memory(c) costs bytes x frequency; on an edge where memory is taken behind it and not before it
//   refill          out(c, s) costs bytes x frequency where the instruction behind s reads c; on an edge where out is taken before it
//                   and not behind it; and likewise before the terminator of a block with several successors
//   out -> memory   what is in no register is in its slot
//   room            at each instruction, while it reads and while it writes, and at the head of each block, the units of all that is in
//                   registers are no more than there are, for each alignment: a demand
//
// A content that can be computed again costs nothing and is in a register where an instruction names it. An instruction that reads a part
// of a value in memory may refill that part alone, for itself; one that writes a part may store that part alone. Moves between registers cost nothing.
//
// So the cheapest set costs no more than any allocation of the class (docs/bounds.md). It is an allocation where each point has a
// packing (point_packing.h), and each content a slot of its own (writer.h). Tested by by_point_test.cpp, and by
// scripts/judge/least-spills against all allocations of tiny programs.
#pragma once

#include "reference/by_point/points.h"

namespace regduel::reference {

// Requires a code without slots, in which dead code was dropped.
[[nodiscard]] ByPointModel model_by_point(const Problem& problem, const Code& code);

}  // namespace regduel::reference
