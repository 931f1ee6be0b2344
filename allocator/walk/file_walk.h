// A walk: homes that change. Block after block, each value of one register file gets a home where it begins, and moves to another
// where that makes room: for a tuple that finds no units side by side, before a clobber, for a value with a fixed register. So a program
// in which no point is over its budget needs no spills, whatever the shapes of its values.
//
//   homes   a vreg that stands in one register for its whole range in an attempt prefers that register; each other vreg
//           goes where no such home is needed for as long as possible
//   heads   values stand where the likeliest predecessor leaves them; the other edges get moves. The first walk knows no state at the
//           ends of loops; a later one takes it from the walk before, so that values that move within a loop stay there. The walk
//           whose moves are executed least often stays
//   room    a walk keeps to few units: first to those that the preferred homes take anyhow
//   misfits where the values of an instruction fit in no arrangement, the cheapest one that can be spilled has no home from there on;
//           without such a value, the instruction has to be pinned. Then the walk does not fit
//
// Not for files that the threads of a warp share: a move on one way of a branch that threads take differently would be seen on the other.
//
// Source: Hack 2006 (spilling before assignment, repairs by parallel copies); Rong 2009 (tree register allocation). Tested by
// file_walk_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/assign/file_allocator.h"
#include "ir/cfg.h"

namespace regduel::allocator {

// A vreg changes its home before an instruction, together with all others that do.
struct HomeMove {
  std::uint32_t inst = 0;  // index
  ir::VRegId vreg;
  int from = 0, to = 0;  // first units
};
// The same on an edge.
struct EdgeMove {
  ir::BlockId from_block, to_block;
  ir::VRegId vreg;
  int from = 0, to = 0;
};

struct Walk {
  bool fits = false;
  std::vector<HomeMove> moves;        // in the order of the walk
  std::vector<EdgeMove> edge_moves;   // edge by edge
  std::int64_t num_executed = 0;      // moves times the frequencies of their blocks
  std::vector<ir::VRegId> to_spill;   // ascending
  std::vector<std::uint32_t> to_pin;  // instructions (of the program before spill code), ascending
};

//   frequency   by block
//   preferred   by vreg of the lowered program: its home where that is free, -1 = it has none; no two overlap. Empty: no vreg has one
//   enough      this many units are tried first, or as many as are live at one moment if that is more; then more and more, up to the limit
//   unit_of     by operand: the first unit of its home; written for operands of the file's vregs in reachable blocks
// Cost: for each walk O(operands + live values at block ends), and for an instruction that needs an arrangement O(live values x units).
[[nodiscard]] Walk walk(const FileAllocator& allocator, const ir::Cfg& cfg, std::span<const std::int64_t> frequency,
                        std::span<const int> preferred, int enough, std::span<std::int16_t> unit_of);

}  // namespace regduel::allocator
