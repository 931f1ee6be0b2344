// Wide accesses: spills and refills of neighbouring registers that stand together become one.
//
// A *run* is a stretch of inserted spills, or of inserted refills, without a guard and with nothing else between them. Two accesses
// of a run become one of twice the width if
//
//   registers   R2k and R2k+1, R4k:R4k+1 and R4k+2:R4k+3: together a tuple that a vreg could have
//   memory      their bytes stand in this order in one slot, at an address that is a multiple of both together
//
// Grouping makes the second condition true: slots whose accesses could be joined are put side by side, the most frequent accesses
// first (by block frequency), first two slots of 4 bytes, then two of 8. Accesses have up to 16 bytes; files R and UR.
//
// Source: source 001 has no rule for neighbours; the widths are those of the hardware (4, 8, 16 bytes). Tested
// by wide_accesses_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/allocator.h"
#include "ir/program.h"

namespace regduel::allocator {

// Slots of a program that stand side by side, in this order.
struct SlotGroups {
  struct Member {
    std::uint32_t slot = 0, offset = 0;  // in the group, in bytes
  };
  std::vector<std::vector<Member>> members;  // by group
  std::vector<std::uint32_t> group_of;       // by slot
  std::vector<ir::Slot> whole;               // by group: size and alignment of all of it; the offset means nothing

  // Each slot is a group.
  [[nodiscard]] static SlotGroups alone(std::span<const ir::Slot> slots);
};

// One spill or refill, of a whole register of it.
struct MemoryAccess {
  ir::PReg registers;
  ir::SlotId slot;
  std::uint32_t offset = 0;  // within the slot, in bytes
};

// Slots of different turns of this many (slot_layout.h, kSlotsAtOnce) are not grouped.
//   f           over vregs, with a slot for each that is in memory
//   homes       by vreg: first unit of its home
//   frequency   by block
//   fuel        decision "group-slots"
// Cost: O(instructions log run).
[[nodiscard]] SlotGroups group_slots(const ir::Function& f, const std::vector<int>& homes, std::span<const std::int64_t> frequency,
                                     std::size_t slots_at_once, ir::Fuel* fuel = nullptr);

// The length of the run that begins at `index`, 0 = none; `end` is that of the block.
[[nodiscard]] std::size_t length_of_run(const ir::Function& f, std::size_t index, std::size_t end);

// The accesses of a run, each at the place of its first part. Unchanged if a register or a byte of memory is written twice.
//   is_store   spills; otherwise refills
[[nodiscard]] std::vector<MemoryAccess> widen(std::vector<MemoryAccess> run, std::span<const ir::Slot> slots, bool is_store);

}  // namespace regduel::allocator
