// One attempt at one register file: each vreg, in the order of priority, takes its fat point and keeps it.
//
//   1  geometry    units and alignment of the vreg, or of its alias chain (assign/geometry.h, assign/coalesced_classes.h)
//   2  range       the units of the file below the limit (select.h); above it, 7 more are looked at to say how many are missing
//   3  zero        both arrays
//   4  walk        the constraint lists of the vreg or chain: interference (type 0) from the placed vregs that live with it, and from
//                  unplaced ones at the place that they would like best; types 1 to 15 from the list
//   5  relax       in the n-th attempt, soft constraints are left out: the first n x knob 642 of the walk, and with knob 641 those
//                  past all less n x knob 643 (by_source/relaxation.h)
//   6  select      the least weight (select.h)
//   7  commit      the home, its weight, the peak. A chain gives it to all its members. There is no way back
//
// A place that pre-allocation proposes comes before the scan, where it is free. A chain without a place is taken apart.
//
// A vreg without a place: without spilling the attempt does not fit. With spilling the vreg needs a spill, where guidance allows it
// (Attempt::to_spill), and the temporaries of its spill code take their places at once, as far as there are some; where guidance does
// not allow it, the vreg is held back for a later round; a temporary has its instruction pinned. In the source the spill code is made
// in the middle of the attempt. Here it is made behind it, and the next attempt goes on from there: what was placed keeps its home.
//
// Priority: what cannot be spilled, least choice of registers, widest and most aligned, highest spill cost, lowest number.
//
// Source: source 000 "Pressure Computation Algorithm" and "Assignment"; "Per-Class Iteration" (order). Tested by fat_points_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/assign/attempt.h"
#include "allocator/assign/by_source/candidates.h"
#include "allocator/assign/by_source/relaxation.h"
#include "allocator/assign/file_allocator.h"
#include "allocator/classic/interference.h"
#include "allocator/classic/source_constraints.h"
#include "allocator/spill/guidance.h"

namespace regduel::allocator {

// Facts of one file that all its attempts of a round share.
struct ClassicFile {
  //   constraints   of the same program
  ClassicFile(const Round& round, const SourceConstraints& constraints, ir::RegFile file);

  FileAllocator allocator;
  const SourceConstraints& constraints;
  InterferenceLists interference;
  std::vector<ir::VRegId> order;    // by priority
  std::vector<std::uint8_t> units;  // by vreg
};

struct ClassicOptions {
  Relaxation relaxation = {};               // its iteration is the number of the attempt
  bool may_spill = false;                   // the simple selection; who finds no place leaves
  std::span<const char> may_leave = {};     // by vreg: 1 = guidance allows to spill it; empty = any
  int threshold = 50;                       // knob 684
  bool has_points = true;                   // type 0 weighs
  const Candidates* candidates = nullptr;   // of pre-allocation
  std::span<const int> kept = {};           // homes of the attempt that this one goes on from, by long-lived vreg; -1 = none
  std::span<const ir::VRegId> absent = {};  // ascending: they leave, and need no home
  SpillGuidance* guidance = nullptr;        // not null: knows the temporaries of vregs that are spilled
  // For a trace: an attempt that does not fit goes on, to say how many registers it takes, and Attempt::placed_by is counted.
  bool counts_on = false;
};

struct ClassicAttempt {
  Attempt attempt;                    // its cost: the weight of the copies that remain
  std::vector<ir::VRegId> held_back;  // have no place, and guidance does not allow to spill them
};

[[nodiscard]] ClassicAttempt place_all(const ClassicFile& file, const ClassicOptions& options);

}  // namespace regduel::allocator
