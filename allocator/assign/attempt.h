// The options of an attempt at one register file, and its result.
//
//   kind      classes  weights  may spill
//   OfTable   x        x                   of the retry table
//   Barrier   x                            the only one at a file of barriers: first fit
//   Packing                                every vreg takes the lowest place that is free
//   Evicting           x        x          a vreg without a place is spilled, or evicts others
//   EvictingClasses
//             x        x        x          the same, and classes whose members live at different times are placed as one: homes for a walk
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "allocator/program/round_index.h"
#include "ir/program.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

using ir::UnitSet;

class AttemptListener;

enum class Order : std::uint8_t {
  ByStart,       // by the begin of the live range: optimal for scalars in SSA form, since reverse postorder visits dominators first
  WidestFirst,   // wide and aligned ones first, then by start: less fragmentation
  LongestFirst,  // wide and aligned ones first, then those that live longest: a vreg that lives everywhere gets its place early
  BoundFirst,    // temporaries first, then as WidestFirst
  HeaviestFirst,  // temporaries first, then those that cost most to spill for each unit and moment
};

enum class AttemptKind : std::uint8_t { OfTable, Barrier, Packing, Evicting, EvictingClasses };

struct AttemptOptions {
  Order order = Order::ByStart;
  AttemptKind kind = AttemptKind::OfTable;
  bool counts_choices = false;                    // Attempt::placed_by is wanted
  bool bank_aware = false;                        // knob 641: the bank filter, and moves against conflicts
  int ceiling = std::numeric_limits<int>::max();  // the attempt ends, and does not fit, once it needs more units
  // If it may spill: homes of an earlier round by vreg, for the first vregs only, -1 = none. A vreg keeps its home if that is free.
  std::span<const int> kept = {};
  std::span<const ir::VRegId> absent = {};      // ascending: vregs that need no home any more
  const TemporaryLists* temporaries = nullptr;  // not null: room is kept free for temporaries of spilled vregs
  AttemptListener* listener = nullptr;          // is shown what happens to one vreg

  // Coalesced classes are placed as one.
  [[nodiscard]] bool coalesces() const { return kind != AttemptKind::Packing && kind != AttemptKind::Evicting; }
  [[nodiscard]] bool has_weights() const { return kind != AttemptKind::Packing && kind != AttemptKind::Barrier; }
  [[nodiscard]] bool may_spill() const { return kind == AttemptKind::Evicting || kind == AttemptKind::EvictingClasses; }
};

// How many homes the scans found, by the reason for which each was preferred to the lowest free one.
struct PlacedBy {
  int first_fit = 0;  // it is the lowest
  int secondary = 0;
  int primary = 0;
};

struct Attempt {
  std::vector<int> home;  // by vreg of the lowered program: first unit, -1 = none or of another file
  bool fits = false;
  int used = 0;                       // highest unit used + 1
  UnitSet units;                      // all that are used
  std::int64_t copy_weight = 0;       // weight of the affinities that were not met
  PlacedBy placed_by;                 // with AttemptOptions::counts_choices
  std::int64_t pressure = 0;          // cumulative: the primary weight of every home at the moment it was taken
  std::int64_t spill_cost = 0;        // of to_spill: counted at the spill, not at each commit (DECISIONS)
  std::vector<ir::VRegId> to_spill;   // ascending
  std::vector<std::uint32_t> to_pin;  // instructions (of the program before spill code), ascending
};

}  // namespace regduel::allocator
