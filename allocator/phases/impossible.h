// Which instruction, if any, makes an allocation impossible: decided by packing each instruction by itself, so exactly.
//
// Source: FORMAT.md "Demand"; source 001 "Allocation Failure". Tested by impossible_test.cpp against the packer.
#pragma once

#include <optional>

#include "allocator/instruction/packing.h"
#include "ir/program.h"

namespace regduel::allocator {

struct Impossible {
  ir::RegFile file;  // of which it needs more than there is
  ir::InstId inst;

  friend bool operator==(const Impossible&, const Impossible&) = default;
};

// The first original instruction of the block that no packing fits.
// Requires: `f` is made by out_of_ssa. Cost: O(operands) but for instructions that only just fit.
[[nodiscard]] std::optional<Impossible> find_impossible(const ir::Function& f, ir::BlockId block, const Budget& budget);

}  // namespace regduel::allocator
