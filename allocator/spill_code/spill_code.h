// A program with its spill code: what insert_spill_code makes, and assignment and emission read.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace regduel::allocator {

inline constexpr std::uint32_t kNoInst = 0xFFFFFFFFu;

// Vregs: those of the program that out_of_ssa made, those of the plan, temporaries.
struct SpillCode {
  ir::Function f;                      // a vreg with `fixed` has that home throughout
  std::vector<std::uint32_t> now_at;   // by instruction of the program before: its index in f; kNoInst = it is not there
  std::vector<char> is_changed;        // by long-lived vreg: 1 = its operands are not those that it had before
  std::vector<std::uint32_t> source;   // by instruction of f: the one that it is or serves (index)
  std::vector<std::uint32_t> temp_of;  // by vreg of f: the instruction that it was made for; kNoInst = not a temporary
  std::vector<ir::VRegId> slot_root;   // by slot of f: the vreg that is kept there
  std::vector<std::pair<ir::VRegId, ir::VRegId>> pack_of;  // packs and copies of packs, each with the pack that it is or copies
  std::int64_t shared_bytes = 0;  // room for the slots of f in shared memory; slots beyond it go to local memory
};

}  // namespace regduel::allocator
