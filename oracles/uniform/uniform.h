// The judge of uniform registers: a register of UR, UP or UB is one for all threads of a warp, so what goes through one must be the
// same in all of them.
//
// The basic idea. Take a register of a uniform file after allocation, and a point. If its content is not *shared*, threads that need
// different contents find the last one that was written. So the judge destroys what is not shared in each uniform register, wherever
// one is written and wherever paths meet, and asks the must-analysis of symbolic.h again, on the pair with these places destroyed.
// An operand that is right without this and wrong with it needs, in some thread, what that thread put into a register of all.
//
//   declared(n)   n is a byte of a root vreg of a uniform file or marked `uniform`
//   shared(x)     of a value x, a byte or a bit of a pack (numbers of values.h):
//                   some n with declared(n) holds x at some point through which each path here goes, or goes on (what the program puts
//                     there is taken to be the same in all threads; marks.h), x is the result of a `const`, undefined, or what a
//                     uniform register held at entry
//                   x = Gate(t, y, z), where y is all that some n with declared(n) holds if t is true, at such a point, and z is
//                     undefined; or the other way round
//                   x = Gate(t, y, z) and shared(t), shared(y), shared(z); or one of y, z is undefined and the other is shared
//                   x is what some name n holds at the head of a block, so that on each edge into it shared(n) or n is undefined
//                     there; and all these are one value, or no branch by a condition that is not shared has two ways to the block
//                     that do not meet before
//                 the greatest solution of these equations
//   destroyed     at the head of a block, and behind each step that writes it: each byte of a uniform register, and each bit of a
//                 pack in one, whose x is not shared, but
//                   the step has a guard, and what it writes is shared: under the other outcome only, unless x satisfies a name that
//                     the step defines
//                   else x satisfies a name n with shared(n) that is undefined on some path or under some outcome of a guard: under
//                     the outcomes under which n is undefined only; behind a step, if it defines n, or has no guard and what it writes
//                     was copied out of a uniform register (copied_out.h) or is nothing known under these. Of several such names any
//                     one may be chosen: where an operand fails with one, the others are tried
//
// Control dependence is the part about heads of blocks: two ways from one branch that meet there first (the iterated dominance
// frontier of the branch's targets; Cytron et al., "Efficiently Computing Static Single Assignment Form", 1991).
//
// Proves: if no finding is made, and symbolic has none, each original read finds the value that the program before used there in
// every thread of a warp, if what that program puts into its own uniform vregs is the same in all threads. It rests on the states of
// symbolic. Out of sight:
//   * a value of an earlier lap of a loop that threads leave at different times
//   * behind a join, a value that satisfies as a whole a shared name that one way leaves undefined, where a name that varies on that way
//     holds it as well
//   * what one way of a branch writes over, where the other way still reads it: as a program does that defines uniform vregs on both
//     ways, and each allocator that refills a uniform vreg on one of them
//   * a value that the program copies into a uniform vreg on each way of a branch, which then is the same on each way alone; one that it
//     copies on one way of a branch that all threads take alike, where the allocation moved it before that branch; one that it gives
//     to a phi on an edge that is neither the only one out of its block nor the only one into its target
//   * without a guard on the write: what is inserted into a uniform register, and is read there as a uniform vreg alone (escapes.h)
//   * what some threads have in a register or slot that nothing was written to in them, or different things on different paths before: it
//     counts as undefined
// False alarms are possible in a loop that leaves alone what the program copies to a uniform vreg behind it (the head gives it a new
// number), and where inserted instructions do what a deleted copy of the program asks for: put into a uniform vreg what is undefined
// in some threads, which have something else in that register.
//
// Finding: uniform-register, at the operand of an original instruction (or the ret, or the remat) that reads what was not shared,
// with the instruction that put it into the register. Tested by uniform_test.cpp and the tests of the other files of this folder.
#pragma once

#include "oracles/judge.h"

namespace regduel::oracles {

// Cost: O(size of after) where nothing but what all threads share goes from a uniform register to where it may vary (escapes.h); else
// as the symbolic judge, whose states it takes, and where something is not shared, twice that.
[[nodiscard]] const Judge& uniform_judge();
// The same verdict without the ways out that spare most programs the analysis.
[[nodiscard]] JudgeResult uniform_without_ways_out(const Case& c);

}  // namespace regduel::oracles
