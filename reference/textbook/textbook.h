// The textbook baselines: allocators as their papers have them, small and unmodified, to compare with. Each is a file of its own,
// with its paper at the head.
//
//   chaitin-briggs   chaitin_briggs.h   optimistic colouring, conservative coalescing
//   irc              irc.h              iterated register coalescing
//   pbqp             pbqp.h             a partitioned boolean quadratic problem
//   linear-scan      linear_scan.h      second-chance binpacking
//   chordal          chordal.h          spill by Belady, then colour along the dominator tree
//
// The first three colour graphs and share the rounds of Chaitin: build, colour, spill each node without a colour everywhere, again.
// After kMostRounds all values go to memory and each instruction gets its exact packing. None of them rematerialises, looks for fewer
// registers, or leaves out refills: values are refilled before each use and stored after each def. They have no knobs.
// Tested by textbook_test.cpp.
#pragma once

#include <memory>

#include "ir/allocator.h"

namespace regduel::reference {

// Each ends, for any well-formed program, in a correct allocation within the limits, or in Impossible where an instruction has no packing,
// or in BadKnob for any knob. Stateless: may be used from several threads.
[[nodiscard]] std::unique_ptr<ir::Allocator> make_chaitin_briggs();
[[nodiscard]] std::unique_ptr<ir::Allocator> make_irc();
[[nodiscard]] std::unique_ptr<ir::Allocator> make_pbqp();
[[nodiscard]] std::unique_ptr<ir::Allocator> make_linear_scan();
[[nodiscard]] std::unique_ptr<ir::Allocator> make_chordal();

}  // namespace regduel::reference
