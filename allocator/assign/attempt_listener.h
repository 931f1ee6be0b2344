// The interface by which an attempt shows its steps about one vreg. explain/observer.h implements it.
//
// A usual run has no listener, and then an attempt only compares a pointer with null. A listener never changes what is decided:
// explain_test.cpp compares runs with and without.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "allocator/assign/constraints.h"
#include "allocator/assign/geometry.h"
#include "allocator/assign/occupancy.h"
#include "allocator/assign/pressure.h"

namespace regduel::allocator {

using ir::UnitSet;

struct Attempt;
struct AttemptOptions;
class FileAllocator;

enum class StepKind : std::uint8_t {
  Precoloured,       // to its own register, if it is free
  JoinsPrecoloured,  // its class has a precoloured member, and goes there if nothing else is there
  KeepsHome,         // the home of the attempt before, if it is free
  Class,             // the scan for its whole coalesced class
  Alone,             // the scan for it alone
  AboveLimit,        // the scan a little above the limit, to say by how much the attempt missed
  MakesRoom,         // no place is free, and others leave
  Displaced,         // it has to leave, and looks for another place
  ToMemory,          // no place is free, and to spill it is the cheapest
  GivesUp,           // no place is free, and no vreg can leave
  MovesApart,        // to a place with fewer bank conflicts
};

// The state of an attempt at a step; the arrays are filled.
struct ScanState {
  const FileAllocator& allocator;
  const Occupancy& occupancy;
  const PressureArrays& arrays;
  std::span<const int> home;  // by vreg
  std::span<const ir::VRegId> members;
  std::span<const Interval> range;
  const Geometry& geometry;
  const UnitSet& used;  // units that were used so far
  int ceiling = 0;      // no footprint ends above it
  bool weights = true;
  bool bank_aware = false;
  UnitSet by_bank;  // left out by the bank filter, if the other units have a place below bank_ceiling
  int bank_ceiling = 0;
  std::function<std::int64_t(int)> primary_at;
  std::function<std::optional<int>(const Constraint&)> target_of;  // of types 0 to 14
};

// Details of steps that make room for another vreg.
struct StepDetails {
  std::int64_t own_cost = -1;              // of spilling the vreg, -1 = cannot be or not asked
  std::int64_t room_cost = -1;             // of spilling the vregs that stand in its way, likewise
  ir::VRegId by = {};                      // Displaced: for which vreg, or for a temporary of which
  bool is_for_temporary = false;           // Displaced: for a temporary
  std::span<const ir::VRegId> leave = {};  // MakesRoom: the vregs that leave
};

class AttemptListener {
 public:
  virtual ~AttemptListener() = default;

  virtual void begin_attempt(const FileAllocator& allocator, const AttemptOptions& options, std::int64_t round,
                             std::int64_t number) = 0;
  virtual void end_attempt(const Attempt& result) = 0;
  // True if the listener wants to see steps of a class with these members.
  [[nodiscard]] virtual bool is_about(std::span<const ir::VRegId> members) const = 0;
  //   unit   the choice, -1 = none
  virtual void step(StepKind kind, const ScanState& state, int unit, const StepDetails& details) = 0;
};

}  // namespace regduel::allocator
