// Emission: writes homes into operands, and gives the program the form of FORMAT.md "Allocated programs".
//
//   * copies that move nothing vanish (inserted ones) or are marked deleted (original ones)
//   * an inserted parallel copy becomes single copies where an order exists; cycles stay parallel
//   * neighbouring moves to or from one pack become one p2r or r2p if registers have the numbers of bits (pack_moves.h)
//   * spill stores that nothing refills vanish, slots share bytes (slot_layout.h), and the frame is rounded up
//   * spills and refills of neighbouring registers that stand together become one wide access (wide_accesses.h)
//   * a device function saves the callee-saved registers that it writes at its entry, and restores them before each ret
//   * instructions in unreachable blocks are packed one by one
//   * inserted instructions get the ids above the program's, in program order
//
// Tested by fatpoint_test.cpp, insert_spill_code_test.cpp and coalesced_classes_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/spill_code/spill_code.h"
#include "ir/allocator.h"
#include "ir/cfg.h"

namespace regduel::allocator {

struct EmitInput {
  const ir::Function& original;
  const ir::Function& without_phis;
  const ir::Cfg& cfg;  // of the program without phis, and of the lowered one
  const SpillCode& lowered;
  const std::vector<int>& homes;  // by vreg of the lowered program: first unit of its home
  const Budget& budget;
  std::span<const std::int64_t> frequency;  // by block
  std::uint32_t frame_align = 1;            // the size of the local frame is a multiple of it; a power of two
  bool widens = true;                       // neighbours go to memory by one access
  ir::Fuel* fuel = nullptr;
};

// Requires: each operand in a reachable block has a home; each instruction in an unreachable one can be packed.
[[nodiscard]] ir::Allocation emit(const EmitInput& input);

}  // namespace regduel::allocator
