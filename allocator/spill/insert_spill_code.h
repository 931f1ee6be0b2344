// The second lowering: constraints of single instructions, spilled vregs and pinned instructions become temporaries and moves.
//
// Each round of the driver lowers the program anew under its plan. After it, a vreg has one home for its whole live range:
//
//   fixed operand      t{=R4} = copy v before, v = copy t after: v may be anywhere between instructions
//   tied def           D = copy U before, D in both places; a temporary where the instruction reads D too, or alignments differ
//   spilled vreg       a refill before each use, a spill store after each def whose value is needed; a guarded def is refilled,
//                      modified, stored; of a part only the part is stored. A refilled value may serve the next uses in its block
//   spilled, remat     a remat in place of each refill; the def is deleted
//   pinned             every operand a temporary fixed where the packer put it (packing.h)
//   edge copies        register to register in parallel; through memory one after the other, with shadow slots where a slot is both
//                      read and written
//
// Original copies of one pair whose source or destination is spilled become the refill or the spill store themselves.
// Source: seed 001 "Spill Code Generation", DECISIONS "Spilling". Tested by lower_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/program/liveness.h"
#include "ir/allocator.h"
#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::allocator {

inline constexpr std::uint32_t kNoInst = 0xFFFFFFFFu;

// What the driver has decided so far. All indices are of the program that out_of_ssa made.
struct Plan {
  std::vector<char> spilled;                  // by vreg
  std::vector<char> keeps_fixed;              // by vreg: precoloured, and in its register throughout
  std::vector<std::uint32_t> remat_of;        // by vreg: the instruction to repeat, kNoInst = none
  std::vector<std::vector<ir::PReg>> pinned;  // by instruction: homes of its items; empty = not pinned
  std::vector<char> no_wait;                  // by instruction: no refilled value waits across or begins to wait here
  std::vector<char> never_waits;              // by vreg: its refilled values do not wait; empty = no such vreg
  ir::PerFile<bool> spills_to_shared = {};    // slots of these files are in shared memory, while there is room
  std::int64_t shared_bytes = 0;              // that a thread may have of it
  int refill_reuse = 0;                       // instructions over which a refilled value may wait for its next use
  ir::Fuel* fuel = nullptr;                   // asked before what a copy or a refill is saved by
};

struct Lowered {
  ir::Function f;                      // a vreg with `fixed` has that home throughout
  std::vector<std::uint32_t> source;   // by instruction of f: the one that it is or serves (index)
  std::vector<std::uint32_t> temp_of;  // by vreg of f: the instruction that it was made for; kNoInst = not a temporary
  std::vector<ir::VRegId> slot_root;   // by slot of f: the vreg that is kept there
  std::int64_t shared_bytes = 0;       // room for the slots of f that are in shared memory; what is beyond goes to local memory
};

// Requires: `live` is the liveness of `in`. Cost: O(size).
[[nodiscard]] Lowered lower(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live, const Plan& plan,
                            const Budget& budget);

// Vregs that can be computed again anywhere: one def in all reachable code, marked so, whole, without register sources.
[[nodiscard]] std::vector<std::uint32_t> find_remats(const ir::Function& in, const ir::Cfg& cfg);

}  // namespace regduel::allocator
