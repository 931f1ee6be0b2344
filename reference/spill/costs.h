// Spill costs of values.
//
// Cost of a value = sum of the block frequencies over its defs and uses (Chaitin 1982; DECISIONS "cost def x use": the sum, not
// the product); over its uses only where it can be computed again. Local temps cost infinitely much. Tested by costs_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/colour/interference_graph.h"
#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"
#include "reference/rules.h"

namespace regduel::reference {

// By value, in [0, kInfiniteCost]; dead instructions do not count (is_dead by instruction of the code). Cost O(refs).
[[nodiscard]] std::vector<std::uint64_t> value_costs(const Problem& problem, const Code& code, bool use_remat,
                                                     const std::vector<std::uint8_t>& is_dead);

// Costs of all values and hints between them. Cost O(refs).
void fill_in_costs(const Problem& problem, const Code& code, bool use_remat, InterferenceGraphs& graphs);

// Instead of the sums: max(1, defs) x max(1, uses) x latency x base^depth (source 003, phase 5), where defs and uses are counted,
// depth is that of the deepest loop around one of them, and the latency is that of the memory to which the value would go: 10 for
// local memory, 40 if the frame is above 1 KiB, 100 above 16 KiB (the source's 4 for shared memory is not used, because this
// allocator does not spill there); 1 if the value is computed again. In 1/256, saturating.
void fill_in_products(const Problem& problem, const Code& code, const Plan& plan, const Rules& rules, InterferenceGraphs& graphs);

}  // namespace regduel::reference
