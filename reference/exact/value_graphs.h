// A program under a plan, lowered for a proof: without dead code, with the graphs whose colourings are allocations, and with those
// that every allocation of the class colours (colour/interference_graph.h). Where both are one, a proof about the one is a proof
// about allocations; elsewhere the answer may be a range. Tested by exact_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/colour/interference_graph.h"
#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::reference {

struct ValueGraphs {
  Code code;
  std::vector<std::uint8_t> is_dead;    // by index of Code::insts: left out
  InterferenceGraphs value, necessary;  // with the same nodes
};

// Cost: drop_dead_code and twice build_interference_graphs.
[[nodiscard]] ValueGraphs lower_by_value(const Problem& problem, const Plan& plan);

}  // namespace regduel::reference
