// Allocation in one walk over the blocks, in which a value may be in a register at one point and in memory at another. Linear scan and
// the colouring of chordal graphs share it; a policy says where they differ.
//
// The walk goes through the blocks in reverse postorder. Before each instruction the values that it reads are brought into
// registers, after it those that it writes get one; where there is no room, the policy says what goes to memory, and a value that
// stands where a clobber or a fixed operand has to be moves out of its way. On each edge, stores, moves and refills
// turn what is true at the end of the one block into what holds at the head of the other. A value has one slot, and whether the slot
// is up to date is known at each point. An instruction for whose operands no place is found this way is pinned, and all begins anew.
// Tested by textbook_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/allocator.h"
#include "reference/program/code.h"
#include "reference/program/liveness.h"
#include "reference/program/problem.h"
#include "reference/textbook/split_edges.h"

namespace regduel::reference {

// What a policy may look at. Distances are in instructions.
class Walk {
 public:
  virtual ~Walk() = default;
  [[nodiscard]] virtual const Code& code() const = 0;
  [[nodiscard]] virtual std::span<const TempId> live_in(std::uint32_t block) const = 0;
  // Of a block that was walked; values that are not live at its end are nowhere.
  [[nodiscard]] virtual bool was_walked(std::uint32_t block) const = 0;
  [[nodiscard]] virtual Where at_end(std::uint32_t block, TempId t) const = 0;
  // From the point at hand, or from the head of a block, to where the value is next referred to on the way through the graph, each exit
  // of a loop being far.
  [[nodiscard]] virtual std::uint64_t distance(TempId t) const = 0;
  [[nodiscard]] virtual std::uint64_t distance_at_head(std::uint32_t block, TempId t) const = 0;
  // The frequency of the block in which it is next referred to in the order of the walk.
  [[nodiscard]] virtual std::uint64_t next_frequency(TempId t) const = 0;
  // How far it is in this block to the next clobber or fixed operand that takes a unit of the tuple.
  [[nodiscard]] virtual std::uint64_t hole(ir::RegFile file, int unit, int units) const = 0;
  [[nodiscard]] virtual const UnitSet& allocatable(ir::RegFile file) const = 0;
};

class SplitPolicy {
 public:
  virtual ~SplitPolicy() = default;
  // Which values are in which registers at the head of a block, by value that is live there; the others are in memory.
  [[nodiscard]] virtual std::vector<std::pair<TempId, int>> enter(const Walk& walk, std::uint32_t block) = 0;
  // One of the free positions, of which there is at least one.
  [[nodiscard]] virtual int choose(const Walk& walk, TempId t, const UnitSet& positions) = 0;
  // What it costs that a value goes to memory here. The cheapest go, and none is dearer than 2^40.
  [[nodiscard]] virtual std::uint64_t cost(const Walk& walk, TempId t) = 0;
};

// Requires that no instruction is impossible. Cost O(refs x registers + edges x live values).
[[nodiscard]] ir::Allocation allocate_by_splitting(const Problem& problem, SplitPolicy& policy, ir::Fuel* fuel);

}  // namespace regduel::reference
