// A program under its plan: spill code inserted, and what attempts and guidance have to know of the result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/assign/banks.h"
#include "allocator/assign/file_allocator.h"
#include "allocator/phases/run.h"
#include "allocator/spill/guidance.h"

namespace regduel::allocator {

// By vreg of a planned program: the first unit of its home, -1 where it has none.
using Homes = std::vector<int>;

class PlannedProgram {
 public:
  //   costs   by long-lived vreg of the plan (spill_costs); a temporary cannot be spilled
  // The run and the plan outlive it; the plan may change meanwhile, which this does not see.
  PlannedProgram(const Run& run, const Plan& plan, const std::vector<std::int64_t>& costs);
  PlannedProgram(const PlannedProgram&) = delete;
  PlannedProgram& operator=(const PlannedProgram&) = delete;

  [[nodiscard]] const SpillCode& code() const { return code_; }
  // Vregs of a file that live somewhere, ascending.
  [[nodiscard]] std::span<const ir::VRegId> vregs(ir::RegFile file) const { return index_.vregs[ir::index(file)]; }
  [[nodiscard]] SpillGuidance& guidance() { return guidance_; }
  // What attempts are made with; constraints are found when it is first asked for.
  [[nodiscard]] const Round& round();

 private:
  const Run& run_;
  SpillCode code_;
  Liveness live_;
  RoundIndex index_;
  std::vector<std::int64_t> cost_;
  SpillGuidance guidance_;
  std::optional<ConstraintLists> constraints_;
  std::optional<BankPairs> banks_;  // with knob 641
  std::optional<Round> round_;
};

}  // namespace regduel::allocator
