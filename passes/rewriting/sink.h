// The first step of scheduling: instructions go to the blocks that read what they define. See schedule.h. Tested by schedule_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/allocator.h"
#include "ir/program.h"

namespace regduel::passes {

// The instructions of each block in order, as positions in Function::insts.
using Order = std::vector<std::vector<std::uint32_t>>;

[[nodiscard]] Order source_order(const ir::Function& f);
[[nodiscard]] ir::Function in_order(const ir::Function& f, const Order& order);

// Units that a root takes while it lives: none where an allocator can repeat its only def instead.
[[nodiscard]] std::vector<int> units_of_roots(const ir::Function& f);

void sink(const ir::Function& f, Order& order, ir::Fuel* fuel);

}  // namespace regduel::passes
