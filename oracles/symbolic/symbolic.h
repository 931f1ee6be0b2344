// The symbolic judge: a must-analysis. At each use, the location holds the vreg that the program before used there, on all paths.
//
// The basic idea. A *name* is a word of a vreg of the program before allocation; a *location* is a word of a register file or of a
// frame after allocation, a predicate, or a bit of a predicate pack. Both programs are walked side by side, in the order of the
// program after; original instructions are matched by id. The state gives, for each location, the set of names whose value the
// location holds. Sets are needed because copies make names equal, and because an allocator may keep a value in several places. An
// original instruction takes its def out of all sets, and puts the def alone into the set of the register that it writes. A copy of
// the program before puts its def into each set that contains its use. A copy, spill or refill of the program after gives its
// target the set of its source. At a join, a location keeps the names that it has on every edge; loops are walked until nothing
// changes. At each use, the name must be in the set of the register that is read: then the register holds the right value on every
// path, for all inputs, and no other instruction needs to be looked at.
//
//   H  subset of  Locations x Names          (l, v) in H: on every path so far on which v is defined, l holds what v holds
//
//   at entry         H = everything (every name is undefined), but architectural vregs and callee-saved registers hold something
//   meet             H(head of b) = the intersection of H over the edges into b
//
//   v = op(u...)     check (loc(u), u) in H for each use; early-clobber defs are clobbered before, clobbers are after that. Then
//     at loc(v)      H := H - {(l, v)} - {(loc(v), w)} + {(loc(v), v)}
//   clobber l        H := H - {(l, w)}
//   d = copy s       H := H - {(l, d)} + {(l, d) : (l, s) in H}, all pairs at once. Original copies, also where they were
//                    deleted or have become a spill or a refill. phi: the same on the edge from each predecessor
//   pack, unpack     the same, byte by byte; the location of a def takes the bytes of the locations of the uses
//   m = move l       H := H - {(m, w)} + {(m, w) : (l, w) in H}, all pairs at once. Copies, spills and refills of the program
//                    after. A phi that was kept: the same on the edge, after the edge block
//   p2r, bit_spill   bit i of the pack holds what its predicate holds; its other bits what they held
//   r2p, bit_refill  the predicate holds what bit i of the pack holds
//   #k repeated      before #k: for each register use s, a name s@k holds what s holds. After it: a location e@k holds its result
//   l = remat #k     check (loc(s), s@k) in H for each use; l := e@k. Where #k is constant, which is without register uses, or with
//                    uses of what constant instructions alone define: l holds the result of #k, whether executed or not
//   @g at an         H where g holds, unchanged where not: (l, v) is in H if it is on both sides. A use under @g is checked on the
//   instruction      side where g holds. A guard that the program before may not have defined is no known value: it stands for
//                    itself only
//   ret              check that each callee-saved register that the program after writes is back to what it held at entry
//
// H is not stored as a matrix of bits, which would be its number of locations x names at each block, but as its quotient: a number
// for each location and each name, with (l, v) in H exactly where their numbers match (values.h). Where names are defined
// on all paths, that is equality of numbers; a name that is undefined on some path has a set of them. A moved value is a copied
// number, a guard and a pack are expressions over numbers, and the meet numbers pairs (join.h, meet.h). At the head of a block
// only names and locations that are read later are kept.
//
// Two places may hold a value together, each where a predicate says so. A join keeps that (meet.h) of a few predicates of its
// block. It is slower, so the judge asks for it where it would object without it.
//
// Independent of memcheck: it follows no definitions, knows no definition sets and no use-def chains; the two share the numbering
// of places (cells.h) and the list of callee-saved registers (preserved.h).
//
// Out of sight: that a location holds the right value under a guard that the program does not spell out; values that are equal
// because they are computed alike. Original instructions in unreachable blocks are not checked.
//
// Findings: symbolic-wrong-value (the location holds something else, which is named), symbolic-lost-value (it holds nothing
// known), symbolic-negation, remat-mismatch, callee-saved, symbolic-wrong-path (a branch leads elsewhere).
// Tested by symbolic_test.cpp and the tests of the other files of this folder.
#pragma once

#include "oracles/judge.h"

namespace regduel::oracles {

// Cost: near-linear in both programs and in the names and locations that are live at the heads of blocks.
[[nodiscard]] const Judge& symbolic_judge();

}  // namespace regduel::oracles
