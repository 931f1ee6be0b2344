// Facts of one register file that all attempts of a round share: its vregs, their coalesced classes, and units that are blocked.
//
// Two register classes that share a file (R and Ralt, UR and URext) are placed together, so that the conflicts between them, class
// 0 of the source, are ordinary ones. Source: source 000 "Per-Class Iteration". Tested by fatpoint_test.cpp and driver_test.cpp.
#pragma once

#include <span>
#include <vector>

#include "allocator/assign/coalesced_classes.h"
#include "allocator/assign/constraints.h"
#include "allocator/assign/occupancy.h"
#include "allocator/instruction/packing.h"
#include "allocator/program/round_index.h"
#include "allocator/spill_code/spill_code.h"
#include "ir/allocator.h"
#include "ir/target.h"

namespace regduel::allocator {

class BankPairs;

// One program with its spill code, and its facts, for all attempts of a round.
struct Round {
  const SpillCode& lowered;
  const Liveness& live;
  const RoundIndex& index;
  const ConstraintLists& constraints;
  const std::vector<std::int64_t>& spill_cost;  // by vreg of the lowered program
  const Budget& budget;
  const ir::Target& target;
  ir::Fuel* fuel = nullptr;
  bool coalesces = true;             // knob FatPointChains: without it there are no coalesced classes
  const BankPairs* banks = nullptr;  // of file R, with knob 641
  bool evicts = true;                // knob FatPointEviction: a vreg without a place may evict others
  bool has_affinity = true;          // knob FatPointConstraintTypes: type 15 weighs
};

// Hard conflicts before any vreg has a home: clobbers, moments at which callee-saved units are restored, and units above the limit of a
// point.
//   bound   RoundIndex::bound, with these limits
[[nodiscard]] Occupancy fixed_moments(const ir::Function& f, const Liveness& live, std::span<const std::uint32_t> bound,
                                      const PointLimits& limits, ir::RegFile file, const UnitSet& callee_saved);

class FileAllocator {
 public:
  // Requires that the file has vregs. The round must outlive it.
  FileAllocator(const Round& round, ir::RegFile file);
  // A copy that may not use these units either.
  [[nodiscard]] FileAllocator without(const UnitSet& units) const;

  // Largest number of units live at one moment.
  [[nodiscard]] int max_live() const { return round_.index.max_live[ir::index(file_)]; }
  // Size of the part of the file that may be used: highest allocatable unit + 1.
  [[nodiscard]] int limit() const { return limit_; }
  [[nodiscard]] const Round& round() const { return round_; }
  [[nodiscard]] ir::RegFile file() const { return file_; }
  [[nodiscard]] std::span<const ir::VRegId> vregs() const { return vregs_; }
  //   absent   ascending
  [[nodiscard]] std::vector<ir::VRegId> vregs_without(std::span<const ir::VRegId> absent) const;
  [[nodiscard]] const CoalescedClasses& classes() const { return classes_; }
  [[nodiscard]] const Occupancy& base() const { return base_; }
  [[nodiscard]] const UnitSet& not_allocatable() const { return not_allocatable_; }
  [[nodiscard]] const UnitSet& callee_saved() const { return callee_saved_; }
  [[nodiscard]] bool has_callee_saved() const { return has_callee_saved_; }
  // The lowest allocatable unit; limit() if there is none.
  [[nodiscard]] int first_unit() const { return first_unit_; }
  // Units that clobbers leave to a vreg; kMaxUnits if they take none from it, or if they leave at least MaxLive units.
  [[nodiscard]] int choice(ir::VRegId v) const { return choice_.empty() ? ir::kMaxUnits : choice_[v.index()]; }

 private:
  void count_choices();
  const Round& round_;
  ir::RegFile file_;
  std::span<const ir::VRegId> vregs_;
  CoalescedClasses classes_;
  int limit_;
  Occupancy base_;           // fixed_moments()
  std::vector<int> choice_;  // by vreg; empty if there are no clobbers
  UnitSet not_allocatable_;
  UnitSet callee_saved_;
  bool has_callee_saved_;
  int first_unit_;
};

}  // namespace regduel::allocator
