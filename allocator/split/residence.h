// Residence: which values are in registers at each point, so that no point is over budget. At a point over budget, the value with
// the farthest next use leaves its register, and it comes back right before that use.
//
// Blocks are walked one by one. At a head, the values are in registers that predecessors leave there; at the head of a loop, those
// that the loop uses soonest. A value that is in a register at only one end of an edge moves on that edge. A parallel copy on an edge
// may read its sources from memory and write its results there.
//
//   leaving   the value with the farthest next use for its cost leaves: a store counts if memory does not have the value yet; a
//             rematerialised value costs one instruction
//   heads     a value is in a register if all predecessors leave it in one, or if refills on the edges from the others run less often
//             than the refills that its uses would need (NextUse::fewest_refills). At the head of a loop, the state at the loop's end
//             is not known yet: the first walk assumes that of the head, a later walk takes it from the walk before
//
// Source: Belady 1966; Braun and Hack 2009. Deviates: vregs have several defs; moves have costs; units and clobbers are counted;
// alignment counts only so far that pairs cannot use a single unit. The rounds that follow do the rest. Tested by
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
    std::uint32_t inst = 0;  // index; the event is before this instruction
    std::uint32_t candidate = 0;
    Kind kind = Kind::Load;
  };
  // A candidate that lives on an edge and is in a register at only one end of it.
  struct EdgeChange {
    ir::BlockId from, to;
    std::uint32_t candidate = 0;
    bool is_load = false;  // in a register at `to`; else at `from`
  };
  std::vector<Event> events;                                // in the order of the walk: block after block in reverse postorder
  std::vector<EdgeChange> edge_changes;                     // in the same order, by the end `from`
  std::vector<std::vector<std::uint32_t>> at_head, at_end;  // by block: candidates in registers, ascending
  std::vector<char> in_memory;                              // by operand of a parallel copy: 1 = it names the value in memory
  std::vector<char> is_split;                               // by candidate: 1 = it leaves its register while it lives

  [[nodiscard]] bool is_at_head(ir::BlockId b, std::uint32_t c) const { return std::ranges::binary_search(at_head[b.index()], c); }
  [[nodiscard]] bool is_at_end(ir::BlockId b, std::uint32_t c) const { return std::ranges::binary_search(at_end[b.index()], c); }
};

struct Registers {
  const Budget& budget;
  ir::PerFile<bool> is_scarce = {};  // files whose values are candidates
};

// Costs of moves.
struct MoveWeights {
  std::span<const std::int64_t> frequency;  // by block
  std::span<const char> is_recomputed;      // by vreg: 1 = it is rematerialised instead of refilled
};

//   before   the residence of the walk before; null for the first walk
// Cost: O(instructions x registers that are full + edges x candidates that are live there).
[[nodiscard]] Residence find_residence(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const Registers& registers,
                                       const SplitCandidates& candidates, const NextUse& next_use, const MoveWeights& weights,
                                       const Residence* before = nullptr);

}  // namespace regduel::allocator
