// Which values stand in registers at each point, so that no point asks for more than there are: what is used farthest from a point
// leaves its register there, and comes back right before its next use.
//
// Per block, from what its predecessors leave in registers; at the head of a loop, what the loop uses soonest. A value that is in a
// register at one end of an edge only moves on that edge. A parallel copy on an edge may take its sources from memory and leave
// its results there.
//
//   who leaves   the value whose next use is farthest for what leaving it costs: a store counts where memory does not have it, a
//                value that is computed again costs one instruction
//   heads        a value is in a register where all predecessors leave it in one, or where refills on the edges from the others are
//                executed less often than those that its uses would need (NextUse::fewest_refills). What the end of a loop leaves
//                is not known at its head: a first walk takes it to be the same, a later one takes it from the walk before
//
// Source: Belady 1966; Braun and Hack 2009. Deviates: vregs with several defs; what moves cost; units and clobbers are counted; of
// alignment only that values of pairs have no use for a unit alone. The rest is left to the rounds that follow. Tested by
// residence_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/split/next_use.h"

namespace regduel::allocator {

struct Residence {
  struct Event {
    enum class Kind : std::uint8_t { Load, Leave };
    std::uint32_t inst = 0;  // index; it happens before this instruction
    std::uint32_t candidate = 0;
    Kind kind = Kind::Load;
  };
  std::vector<Event> events;                                // in the order of the walk: block after block in reverse postorder
  std::vector<std::vector<std::uint32_t>> at_head, at_end;  // by block: candidates in registers, ascending
  std::vector<char> in_memory;                              // by operand: 1 = of a parallel copy, it names the value in memory
  std::vector<char> is_split;                               // by candidate: 1 = leaves its register somewhere while it lives

  [[nodiscard]] bool is_at_head(ir::BlockId b, std::uint32_t c) const { return std::ranges::binary_search(at_head[b.index()], c); }
  [[nodiscard]] bool is_at_end(ir::BlockId b, std::uint32_t c) const { return std::ranges::binary_search(at_end[b.index()], c); }
};

struct Registers {
  const Budget& budget;
  ir::PerFile<bool> is_scarce = {};  // files whose values are candidates
};

// What moves cost.
struct MoveWeights {
  std::span<const std::int64_t> frequency;  // by block
  std::span<const char> is_recomputed;      // by vreg: 1 = it is computed again instead of refilled
};

//   before   of the walk before; null for the first one
// Cost: O(instructions x registers that are full + edges x candidates that are live there).
[[nodiscard]] Residence find_residence(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const Registers& registers,
                                       const SplitCandidates& candidates, const NextUse& next_use, const MoveWeights& weights,
                                       const Residence* before = nullptr);

}  // namespace regduel::allocator
