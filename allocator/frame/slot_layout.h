// The layout of spill slots in the frames of a program: values that are not in memory at one time share bytes.
//
//   live(s, p)          a refill of s may follow p, and no unguarded store of all of s comes before it
//   dead store          a store to a slot that is not live behind it; it is dropped
//   s and t interfere   behind a store to one of them the other is live
//   order               most aligned first, then largest; each at the lowest offset where it overlaps no slot of its space that it
//                       interferes with; slots of a group (wide_accesses.h) at a fixed distance from one another
//
// As registers are coloured (Chaitin, "Register Allocation & Spilling via Graph Coloring", 1982), with bytes for colours. Slots
// whose bytes overlap become one slot of the allocated program, since its slots may not overlap (FORMAT.md); so do slots of a group.
// Source: source 001, pool of slots; the rule is ours. Tested by slot_layout_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/frame/wide_accesses.h"
#include "ir/allocator.h"
#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::allocator {

struct SlotLayout {
  struct Place {
    ir::SlotId slot;           // of `slots`; invalid if no value is kept there
    std::uint32_t offset = 0;  // within it, in bytes
  };
  std::vector<Place> place;      // by slot of the program
  std::vector<char> dead_store;  // by instruction of the program: 1 = a store that no refill sees
  std::vector<ir::Slot> slots;
  std::uint32_t local_frame = 0, shared_frame = 0;  // bytes, with the program's own variables
};

[[nodiscard]] constexpr std::uint32_t round_up(std::uint32_t bytes, std::uint32_t align) {
  return (bytes + align - 1) / align * align;
}

// Slots are laid out in turns of this many; slots of different turns share no bytes.
inline constexpr std::size_t kSlotsAtOnce = 4096;

//   f              with slots that do not overlap yet; their offsets mean nothing
//   shared_bytes   room for slots in shared memory; slots without room go to local memory
//   groups         slots that stand side by side; all slots of a group are of one turn
//   fuel           decisions "drop-dead-store" and "share-slot"
// Cost: passes x blocks x slots / 64, and stores x slots / 64, and slots x (bytes of the slots that each interferes with + frame).
[[nodiscard]] SlotLayout lay_out_slots(const ir::Function& f, const ir::Cfg& cfg, const SlotGroups& groups,
                                       std::int64_t shared_bytes, ir::Fuel* fuel = nullptr);

}  // namespace regduel::allocator
