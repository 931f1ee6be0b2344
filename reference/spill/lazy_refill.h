// Lazy refills. A coloured program refills before each use and stores after each def; this removes the refills and stores that it
// can do without.
//
// The four steps of source 003, phase 6, on code whose temps have their registers:
//   6a  spill locations   the refills and stores of whole slots that lowering left
//   6b  use points        of each slot, the refills in the order of a block, and from where to where their temps live
//   6c  placement         a refill stands immediately before its use. The next one of the slot, at most `distance` instructions of
//                         the code later, is left out where the register that holds the value since the last refill, or since the
//                         def that was stored, is free up to the end of the use. Otherwise both may move to a register that is
//                         free all the time, and last of all a copy does instead of the refill.
//   6d  redundancy        facts (slot s, register r): r holds what s does. With gen and kill of a block,
//                             in(entry) = {},  in(b) = intersection over all predecessors p of out(p),
//                             out(b)    = gen(b) | (in(b) - kill(b))
//                         and a refill of s into r is left out where (s, r) holds before it. Then backwards: a store is left out
//                         where no refill reads its slot before it is stored anew as a whole, on any path.
// Deviations from the source: "on all paths", for its "in a predecessor" leaves out refills that are needed (DECISIONS); and it
// works after colouring, on registers that are free anyway. So it never makes a colouring fail and never takes a register that
// could not be had: callee-saved registers are not taken for it. Tested by lazy_refill_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/allocator.h"
#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::reference {

struct LazyRefillOptions {
  int distance = 256;  // >= 0, in instructions of the code; 0 = nothing is shared
  ir::Fuel* fuel = nullptr;
  int registers = 1000;  // > 0: only the first so many registers of each file are taken
};

// Marks the refills, stores and remats of `code` that are not needed as dead, turns refills into moves, and gives local temps other
// registers.
//   homes    by temp: a colouring of `code`; is_dead   by index of Code::insts: copies whose def no instruction reads
//   Cost     O(refs x live temps + shared refills x distance + blocks x facts / 64 x passes), facts <= refills and stores
void make_refills_lazy(const Problem& problem, const Plan& plan, const LazyRefillOptions& options, Code& code,
                       std::vector<ir::PReg>& homes, std::vector<std::uint8_t>& is_dead);

}  // namespace regduel::reference
