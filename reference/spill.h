// Spill costs, and what to spill after a round in which not every node got a colour.
//
// Cost of a value = sum of the block frequencies over its defs and uses (Chaitin 1982; DECISIONS "cost def x use": the sum, not
// the product); over its uses only where it can be computed again. Local temps cost infinitely much.
// Victim: a node without colour is spilled itself. A local temp cannot be: then the cheapest set of neighbours whose registers
// would make room for it is spilled, and where no such set exists its instruction is pinned to its exact packing.
// Members of one coalesced node share a slot, so that the copies between them vanish. Tested by spill_test.cpp.
#pragma once

#include "reference/code.h"
#include "reference/colour/interference_graph.h"
#include "reference/colour/select.h"
#include "reference/plan.h"
#include "reference/problem.h"
#include "reference/rules.h"

namespace regduel::reference {

// Costs of all values and hints between them. Cost O(refs).
void fill_in_costs(const Problem& problem, const Code& code, bool use_remat, InterferenceGraphs& graphs);

// Instead of the sums: max(1, defs) x max(1, uses) x latency x base^depth (seed 003, phase 5), where defs and uses are counted,
// depth is that of the deepest loop around one of them, and the latency is that of where the value would go: 10 to local memory, 40
// where the frame is above 1 KiB, 100 above 16 KiB (4, shared memory, is nowhere that this allocator spills to); 1 where it is
// computed again. In 1/256, saturating.
void fill_in_products(const Problem& problem, const Code& code, const Plan& plan, const Rules& rules, InterferenceGraphs& graphs);

struct SpillChoice {
  bool use_remat = true;
  bool only_cheapest = false;  // of the nodes without a colour that can be spilled, that of the least cost / degree
};

// Adds at least one spilled value or pinned instruction to `plan`, or returns false.
//   graph   as it was coloured, `colouring` has failures
bool choose_spills(const FileGraph& graph, const Colouring& colouring, const UnitSet& available, const Problem& problem,
                   const Code& code, const SpillChoice& how, Plan& plan, ir::Fuel* fuel = nullptr);

}  // namespace regduel::reference
