// Whether, and how much, a program may spill to shared memory.
//
// Shared memory is nearer than local memory, but all threads of a block share it. So only the files of classes 3 and 6 (UR, Acc:
// kSpillWays) spill there, on a target of device type 5, in a kernel without calls: the frame of a function that follows the ABI is
// in local memory. What one thread may have of it is its share of what one SM has. Beyond that, slots are in local memory again.
// Source: seed 000 "SMEM Spill Activation", seed 001 "SMEM Spilling" (activation conditions, hard restriction,
// --disable-smem-reservation). Tested by shared_memory_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "allocator/knobs.h"
#include "allocator/spill/location.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::allocator {

// Cost: O(instructions).
[[nodiscard]] inline bool uses_abi(const ir::Function& program) {
  return program.kind == ir::FunctionKind::Device ||
         std::any_of(program.insts.begin(), program.insts.end(), [](const ir::Inst& i) { return i.op == ir::Op::Call; });
}

// By file: where its spilled vregs are kept.
[[nodiscard]] inline ir::PerFile<Location> slot_locations(const ir::Function& program, const ir::Target& target,
                                                          const Knobs& knobs) {
  const bool has_shared = target.device_type == 5 && knobs[Knob::DisableSmemReservation] == 0 && !uses_abi(program);
  ir::PerFile<Location> result = {};
  for (const ir::RegFile file : ir::kAllFiles)
    result[ir::index(file)] = Location::slot(has_shared ? kSpillWays[ir::index(file)].nearest : ir::MemSpace::Local);
  return result;
}

// Bytes that one thread of the program may have.
[[nodiscard]] inline std::int64_t shared_bytes_a_thread(const ir::Function& program, const ir::Target& target) {
  return target.shared_bytes_per_sm / std::max<std::int64_t>(program.threads, 1);
}

}  // namespace regduel::allocator
