// The choice of values to spill after a round in which some node got no colour.
//
// A node without colour is spilled itself. For a local temp, which cannot be, the cheapest set of neighbours whose registers would
// make room for it is spilled, and if no such set exists its instruction is pinned to its exact packing. Members of one coalesced
// node share a slot, so that the copies between them vanish. Tested by choose_test.cpp.
#pragma once

#include <span>

#include "reference/colour/interference_graph.h"
#include "reference/colour/select.h"
#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::reference {

struct SpillChoice {
  bool use_remat = true;
  bool only_cheapest = false;  // of the nodes without a colour that can be spilled, that of the least cost / degree
};

// Adds at least one spilled value or pinned instruction to `plan`, or returns false.
//   graph   as it was coloured, `colouring` has failures
bool choose_spills(const FileGraph& graph, const Colouring& colouring, const UnitSet& available, const Problem& problem,
                   const Code& code, const SpillChoice& how, Plan& plan, ir::Fuel* fuel = nullptr);

// Spills the temps that are values in registers: those that can be computed again are, the others share one slot. False if there is
// no such temp.
bool spill_together(std::span<const TempId> temps, const Problem& problem, const Code& code, bool use_remat, Plan& plan,
                    ir::Fuel* fuel = nullptr);

}  // namespace regduel::reference
