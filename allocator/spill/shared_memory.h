// Whether, and how much, a program may spill to shared memory.
//
// Shared memory is nearer than local memory, but all threads of a block share it. So only the files of classes 3 and 6 (UR, Acc:
// spills_to_shared) spill there, on a target of device type 5, in a kernel without calls. A function that follows the ABI has its frame in
// local memory, and a note tells the user. A thread may use its share of the SM's shared memory; further slots go to local memory.
// frame/slot_layout.h assigns the bytes of the share.
// Source: source 000 "SMEM Spill Activation", source 001 "SMEM Spilling" (activation conditions, hard restriction,
// --disable-smem-reservation). Tested by shared_memory_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "allocator/knobs.h"
#include "allocator/spill_code/location.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::allocator {

// Source 000 "SMEM Spill Activation": classes 3 and 6.
[[nodiscard]] constexpr bool spills_to_shared(ir::RegFile file) { return file == ir::RegFile::UR || file == ir::RegFile::Acc; }

// Cost: O(instructions).
[[nodiscard]] inline bool uses_abi(const ir::Function& program) {
  return program.kind == ir::FunctionKind::Device ||
         std::any_of(program.insts.begin(), program.insts.end(), [](const ir::Inst& i) { return i.op == ir::Op::Call; });
}

// The note to the user if shared memory is asked for and refused: the words of source 001 "Hard restriction".
inline constexpr std::string_view kSmemRefusal = "Smem spilling should not be enabled when functions use abi.";

// Where spilled values are kept. Decided once, before the first attempt.
struct SpillSetup {
  ir::PerFile<Location> slots = {};  // by file
  std::int64_t shared_bytes = 0;     // the share of one thread; further slots are in local memory
  std::uint8_t files = 0;            // bit by file: it has vregs, and spills to shared memory, or would but for the ABI
  bool is_refused = false;           // because the function uses the ABI

  [[nodiscard]] bool concerns(ir::RegFile file) const { return (files >> ir::index(file) & 1) != 0; }
};

// Cost: O(vregs + instructions).
[[nodiscard]] inline SpillSetup set_up_spilling(const ir::Function& program, const ir::Target& target, const Knobs& knobs) {
  SpillSetup setup;
  setup.shared_bytes = target.shared_bytes_per_sm / std::max<std::int64_t>(program.threads, 1);
  const bool is_asked = target.device_type == 5 && knobs[Knob::DisableSmemReservation] == 0;
  const bool has_shared = is_asked && !uses_abi(program);
  for (const ir::RegFile file : ir::kAllFiles)
    setup.slots[ir::index(file)] =
        Location::slot(has_shared && spills_to_shared(file) ? ir::MemSpace::Shared : ir::MemSpace::Local);
  if (!is_asked) return setup;
  for (const ir::VReg& v : program.vregs)
    if (spills_to_shared(v.file())) setup.files = static_cast<std::uint8_t>(setup.files | 1u << ir::index(v.file()));
  setup.is_refused = setup.files != 0 && !has_shared;
  return setup;
}

}  // namespace regduel::allocator
