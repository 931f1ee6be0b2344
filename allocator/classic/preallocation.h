// The pre-allocation pass: before the attempts at a file, it proposes homes for operands that are hard to place late.
//
// The pass walks the lowered program block by block in reverse postorder. In each instruction it looks at the operands from the last
// to the first; which of them qualify depends on the kind of the operation:
//
//   operation            operands that qualify               because
//   named, memory        all but the guard                   addresses and data are tuples and parts of tuples
//   named, else; remat   tuples; operands read and written   a tuple placed late finds gaps only; a tied value has one
//                        (tied, or def-use)                  place for both of its sides
//   pack                 the def, then the uses in order     a use in its piece of the def needs no copy
//   unpack               the use, then the defs in order     likewise
//   copy                 all                                 it vanishes if both sides are in one home
//   call, ret            all (fixed ones are precoloured)    free operands stand beside the fixed ones
//   cbra, mbra           the condition                       it is read after all copies at the end of its block
//   p2r r2p bit_spill    the pack of bits                    it is tied
//   bit_refill                                               (likewise)
//   const exit bra bar   none                                their operands prefer no place
//   spill refill         none                                their register belongs to the instruction that they serve
//   phi                  none                                a lowered program has none
//
// The source has a switch over the opcode numbers of one instruction set; kinds of operations stand for them here. Of the operands
// that qualify, the priority (knob 646) keeps those that are read (1), written (2), or both (3). Architectural vregs, precoloured
// vregs and vregs of other files are left out.
//
// Each remaining vreg becomes a candidate once. A candidate gets the first free home of: the place that its proposer asks for; the
// places of the partners of its copies, ties and hints, heaviest first; the lowest place, with callee-saved registers that are
// not saved yet last. Free means free of hard conflict during its whole live range, in an occupancy of the pass's own. If
// there is no such home it goes to the overflow table. Then the operands that depend on it are proposed in turn, kMaxDepth
// steps at most: the other side where its (first) def is a copy, which is what lowering makes of ties; the pieces where it is
// a pack; the tuple and the other pieces where it is an unpack.
//
// With knob 629, a coalesced class is placed as one, with the live range of all its members, and member by member only if that
// fails; and all copies from and to a candidate are followed, and hints, not only its def.
//
// Deviates: uniform files are done only with knob 618, as in the source; barriers never, since they have a mechanism of their
// own. Correctness does not hang on this pass: an attempt takes a candidate only after may_take (candidates.h).
// Source: source 000 "Pre-Allocation Pass". Tested by preallocation_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/assign/file_allocator.h"
#include "allocator/classic/candidates.h"
#include "allocator/program/mode.h"

namespace regduel::allocator {

inline constexpr int kMaxDepth = 4;

struct PreallocationOptions {
  bool is_enabled = false;          // knob 628
  bool follows_classes = false;     // knob 629
  bool does_uniform_files = false;  // knob 618
  int priority = 3;                 // knob 646: 1 to 3, bit 0 = operands that are read, bit 1 = operands that are written
};

// Whether the pass runs at all: modes 3, 5 and 6 only, and not for every file.
[[nodiscard]] bool is_preallocated(ir::RegFile file, AllocationMode mode, const PreallocationOptions& options);

// Operands of an instruction that qualify, as indices, in the order in which the pass takes them up.
void find_qualifying(const ir::Function& f, const ir::Inst& inst, int priority, std::vector<std::uint16_t>& out);

// Empty if the pass does not run. Cost: O(operands + sum over candidates of the length of their live ranges).
[[nodiscard]] Candidates preallocate(const FileAllocator& allocator, AllocationMode mode, const PreallocationOptions& options);

}  // namespace regduel::allocator
