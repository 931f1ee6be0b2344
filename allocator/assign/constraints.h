// Constraints on the home of a vreg, in the numbering of source 000, and the builder that derives them from a lowered program.
//
// Constraints are preferences only. Hard conflicts are bits of the occupancy (occupancy.h), and no weight decides correctness. So a
// constraint weighs as much as it saves: one copy, conflict or broken tuple, times the frequency of its block.
//
// The builder walks the instructions and asks for the role of each operand:
//
//   copies, ties, hints        15   affinity to the unit in which the copy would vanish. The only type of the secondary array
//   banks (knob 641)            11 for the first source of an operation, 12 for the second, 13 for each further one; 14 for tuples:
//                                   it spares the bank of each other source
//   custom                      4, 9, 10, as the target description says
//
// Types 0 to 3 and 5 to 8 are those of `classic` alone (classic/interference.h, classic/source_constraints.h).
// Architectural vregs, barriers of phis, and vregs without a live range (spilled ones) have no constraints.
// Source: source 000 "Constraint Types", "Interference Builder", "Constraint List Structure"; DECISIONS on types 0 to 15. Tested by
// constraints_test.cpp, pressure_test.cpp (weights) and coalesced_classes_test.cpp (affinities).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "allocator/assign/banks.h"
#include "allocator/program/def_lists.h"
#include "allocator/spill_code/spill_code.h"
#include "base/grouped.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::allocator {

enum class ConstraintType : std::uint8_t {
  PointInterference = 0,
  ExcludeOne = 1,
  ExcludeAllBut = 2,
  BelowPoint = 3,
  Custom4 = 4,
  PairedLow = 5,
  PairedHigh = 6,
  AlignedPair = 7,
  PhiRelated = 8,
  Custom9 = 9,
  Custom10 = 10,
  EvenParity = 11,
  OddParity = 12,
  ParityGroup = 13,
  ParityExtended = 14,
  Range = 15,
};
inline constexpr int kNumConstraintTypes = 16;
[[nodiscard]] std::string_view name(ConstraintType t);  // "point", "exclude-one" ...

struct Constraint {
  ConstraintType type = ConstraintType::PointInterference;
  bool is_soft = true;  // may be left out by a retry of `classic`
  std::int16_t weight = 1;
  std::int16_t unit = 0;  // the target if `partner` is invalid; else added to the partner's home
  std::uint8_t span = 1;  // units of the target
  ir::VRegId partner;     // counts once it has a home (type 0: as long as it has none)
};

struct ConstraintOptions {
  const ir::Target* target = nullptr;  // for custom constraints; null = none
  bool bank_aware = false;             // knob 641
  std::uint32_t types = 0xFFFF;        // knob FatPointConstraintTypes; those of type 15 are always made, for coalesced classes
};

// Constraints by vreg.
class ConstraintLists {
 public:
  // Cost: O(operands).
  ConstraintLists(const ir::Function& original, const SpillCode& lowered, const std::vector<std::int64_t>& block_frequency,
                  const Liveness& live, const ConstraintOptions& options = {});

  [[nodiscard]] std::span<const Constraint> of(ir::VRegId v) const { return lists_[v.index()]; }
  // Of the vregs with constraints of type 15. Made when first needed, from the program and the liveness, which must still be there.
  [[nodiscard]] const DefLists& defs() const;

 private:
  const ir::Function* f_;
  const Liveness* live_;
  mutable std::optional<DefLists> defs_;
  Grouped<Constraint> lists_;
};

}  // namespace regduel::allocator
