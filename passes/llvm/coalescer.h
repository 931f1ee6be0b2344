// The driver of the LLVM-style coalescer: the copies that it tries to join, their order, the fallbacks when a join fails, and the
// resulting program. Source: LLVM's RegisterCoalescer::joinAllIntervals; source 004, "Standard LLVM RegisterCoalescer".
//
// Three things count as copies: each pair of a copy instruction between whole roots; each use of a phi, as a copy at the end of
// its predecessor; and each tie of a def to a use that dies there (two_address.h has made copies of the other ties). A tie costs
// nothing if its join fails.
//
// Order. Blocks by loop depth, deepest first; in one depth, split critical edges (one predecessor, one successor, nothing but
// copies and a bra) first, then those with more edges, then by number. In a block, top down; copies of two sides of which one
// lives in one block wait until all blocks of a depth have been through. Copies that the terminal rule holds back go behind the
// others of their block: a copy to D that is D's only one, of a source S that also is copied from or to an R with other copies,
// where R's and D's intervals overlap, so that only one of the two joins is possible. Copies that failed are tried again until a
// round joins nothing, but only those of which one side has changed since.
//
// One copy is left out if its source is undefined there and it has no guard. Otherwise the two intervals are joined (joiner.h).
// If they conflict, and the source holds what a cheap def makes (a rematerialisable constant or operation without registers and
// memory), the def is repeated in the copy's place and the source's interval shrinks: at once, or at the end of the round if the
// source still has late-remat-update-threshold copies or more. An interval of large-interval-size-threshold values or more is
// tried large-interval-freq-threshold times, and then no more.
//
// Knobs of the source that say "coalesce", join-splitedges and join-globalcopies, are taken at their word: off means that copies on
// split critical edges (phi uses on critical edges), or those whose sides both live in several blocks (all phi uses), stay. LLVM
// only changes the order then. Without join-globalcopies blocks are gone through bottom up, as LLVM does.
//
// Left out of LLVM: adjustCopiesBackFrom, removeCopyByCommutingDef and removePartialRedundancy, which rewrite instructions that a
// pass has to leave as they are, or put copies on edges; joins with physical registers; sub-register joins but those whose parts
// are the same on both sides (joiner.h), since a narrow value in a part of a wide one makes each of its instructions demand the
// wide one. Tested by llvm_test.cpp.
#pragma once

#include "ir/allocator.h"
#include "ir/program.h"
#include "passes/llvm/settings.h"

namespace regduel::passes::llvm {

[[nodiscard]] ir::Function coalesce(const ir::Function& f, const Settings& settings, ir::Fuel* fuel, ir::Trace* trace);

}  // namespace regduel::passes::llvm
