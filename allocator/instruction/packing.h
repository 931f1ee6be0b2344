// Homes for all operands of one instruction at once: exact. A failure is proven.
//
// An instruction is *impossible* if no packing exists. With all values in memory between instructions and each instruction packed by
// itself, any program without an impossible instruction has an allocation; so the rounds of spilling always end in one.
//
// First fit, largest first, suffices for most instructions. Otherwise a search places the items that hold R and W one after another
// (after the fixed ones), as long as each moment by itself could take all remaining items; then the rest of R and the rest of W are
// two independent problems. One moment is packed unit by unit: an item begins at the unit, or the unit stays empty; as many units
// may stay empty as the items do not need. For each set of remaining items, by kind, the search remembers the lowest unit from
// which they could not be placed: at most units x kinds x product(count + 1) steps.
//
// Source: FORMAT.md "Demand"; source 000 "Per-Instruction Assignment" has the place in the pipeline. Tested by packing_test.cpp
// against brute force.
#pragma once

#include <expected>
#include <optional>
#include <unordered_map>
#include <vector>

#include "allocator/instruction/items.h"
#include "allocator/program/point_limits.h"
#include "ir/allocator.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

using ir::UnitSet;

// The units that a program under a limit may use, by file.
struct Budget {
  // Below the limit, where it varies the highest one; not reserved; without callee-saved ones that cannot be saved.
  ir::PerFile<UnitSet> allocatable;
  // That a device function must keep, allocatable or not; empty for kernels, and where nothing returns.
  ir::PerFile<UnitSet> callee_saved;
  ir::PerFile<int> most_in_a_row = {};  // neighbouring units that are all allocatable everywhere
  ir::PerFile<int> limit = {};          // as asked for
  // Where the limit of R varies by point: its limit at each instruction of the program at which it is not the highest.
  std::unordered_map<ir::InstId, int> limit_at = {};
  bool memory_through_r = false;  // ir::Abi

  // Entry with predecessors: nothing can be saved there just once, so callee-saved registers are left alone.
  [[nodiscard]] static Budget of(const ir::Function& program, const ir::Target& target, const ir::Limits& limits);
  // Units that an operand of the instruction may stand in: callee-saved ones are restored before a ret reads its operands.
  [[nodiscard]] UnitSet at(ir::RegFile file, const ir::Inst& inst) const {
    const std::size_t k = ir::index(file);
    UnitSet units = inst.op == ir::Op::Ret ? allocatable[k] - callee_saved[k] : allocatable[k];
    if (file != ir::RegFile::R || limit_at.empty()) return units;
    if (const auto lower = limit_at.find(inst.id); lower != limit_at.end()) units.clear_range(lower->second, ir::kMaxUnits);
    return units;
  }
  // The number of units that are allocatable at every instruction, whatever its limit.
  [[nodiscard]] int units_everywhere(ir::RegFile file) const {
    UnitSet units = allocatable[ir::index(file)];
    if (file == ir::RegFile::R)
      for (const auto& [inst, lower] : limit_at) units.clear_range(lower, ir::kMaxUnits);
    return units.count();
  }
  // Of any version of the program.
  [[nodiscard]] PointLimits points_of(const ir::Function& f) const {
    return limit_at.empty() ? PointLimits() : PointLimits(f, limit[ir::index(ir::RegFile::R)]);
  }
};

struct PackFailure {
  ir::RegFile file;
};
// A home for each item, in the order of `items`. Cost: items x units but for instructions that only just fit, or not: milliseconds
// for some 30 operands. The placements of items that hold R and W are searched without a bound other than their number.
[[nodiscard]] std::expected<std::vector<ir::PReg>, PackFailure> pack(const ir::Function& f, const ir::Inst& inst,
                                                                     const Items& items, const Budget& budget);

}  // namespace regduel::allocator
