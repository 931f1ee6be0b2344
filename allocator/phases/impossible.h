// Which instruction, if any, makes an allocation impossible: decided by packing each instruction by itself, so exactly.
//
// Source: FORMAT.md "Demand"; seed 001 "Allocation Failure". Tested by impossible_test.cpp against the packer.
#pragma once

#include <optional>

#include "allocator/instruction/packing.h"
#include "ir/program.h"

namespace regduel::allocator {

// The file of which some original instruction of the block needs more than there is, found at the first such instruction.
// Requires: `f` is made by out_of_ssa. Cost: O(operands) but for instructions that only just fit.
[[nodiscard]] std::optional<ir::RegFile> find_impossible(const ir::Function& f, ir::BlockId block, const Budget& budget);

}  // namespace regduel::allocator
