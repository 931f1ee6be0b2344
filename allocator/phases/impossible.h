// Finds the instruction, if any, that makes an allocation impossible. Each instruction is packed by itself, so the answer is exact.
//
// Source: FORMAT.md "Demand"; source 001 "Allocation Failure". Tested by impossible_test.cpp against the packer.
#pragma once

#include <optional>

#include "allocator/instruction/packing.h"
#include "allocator/phases/run.h"
#include "ir/program.h"

namespace regduel::allocator {

struct Impossible {
  ir::RegFile file;  // the file in which no packing fits
  ir::InstId inst;

  friend bool operator==(const Impossible&, const Impossible&) = default;
};

// The first original instruction of the block that no packing fits.
// Requires: `f` is made by out_of_ssa. Cost: O(operands) but for instructions that only just fit.
[[nodiscard]] std::optional<Impossible> find_impossible(const ir::Function& f, ir::BlockId block, const Budget& budget);

// The first in the blocks of a run that are reachable, or in those that are not.
[[nodiscard]] std::optional<Impossible> find_impossible(const Run& run, bool is_reachable);

}  // namespace regduel::allocator
