// The least that spilling costs at given limits, proved: where each value is in its register throughout, or in memory (or computed
// again) throughout, with a refill before each use and a store after each def.
//
//   cost         bytes of refills and stores, times how often their blocks run (a duel's "weighted spill bytes"), saves of
//                callee-saved registers among them
//   from below   what is demanded of a set of spilled values (cheapest_set.h): of values that are live at a point together, so many
//                units have to be spilled that the rest has room, beside what the instruction there needs in any case
//   from above   the program is lowered with the values of the cheapest set in memory and its graph coloured exactly
//                (fewest_units.h). Where that is impossible, as many others as may be are spilled as well while it stays
//                impossible: one of those that are left has to be spilled, which is demanded from then on
//
// Spilling more values never makes a graph harder, because the temps of a spilled value live where the value would. So the last
// step demands nothing that is not needed. Values that may be coalesced share a slot, and copies within a slot vanish. Source:
// ours; the yardstick of spilling beside both allocators. Tested by exact_test.cpp, and by properties/least_spill_test.cpp against
// all sets of values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::reference {

struct SpillEffort {
  std::int64_t conflicts = 20'000;  // of one question to the solver
  int most_values = 200;            // that may be spilled; of more, nothing is asked
  // Where the formula of the demands at less than the least cost goes (PATH.cnf), and the proof that it cannot be met (PATH.drat);
  // that a demand of the last step is needed: PATH.N.cnf and PATH.N.drat. Empty = nowhere.
  std::string proof;
};

struct LeastSpill {
  enum class End : std::uint8_t {
    Found,
    TooLarge,    // more values than the effort allows
    Impossible,  // not even with everything in memory: tuples would have to be moved around an instruction
  };
  End end = End::Found;
  std::int64_t at_least = 0, at_most = 0;  // cost; at_most is that of what follows
  bool is_written = true;                  // proofs were asked for, and all are there
  int demands = 0, refutations = 0;        // how many of the points, and of the last step
  int values = 0;                          // that could be spilled
  // The allocation.
  Plan plan;
  Code code;
  std::vector<ir::PReg> homes;        // by temp
  std::vector<std::uint8_t> is_dead;  // by index of Code::insts

  [[nodiscard]] bool is_proved() const { return at_least == at_most; }
};

// Requires that no instruction is impossible. Throws BadInput where a proof cannot be written. Cost: exponential at worst, bounded
// by the effort; values x size of the program at least.
[[nodiscard]] LeastSpill least_spill(const Problem& problem, const SpillEffort& effort = {});

}  // namespace regduel::reference
