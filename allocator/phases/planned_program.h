// A program under its plan: the program with spill code, and its facts for attempts and guidance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/assign/banks.h"
#include "allocator/assign/file_allocator.h"
#include "allocator/phases/run.h"
#include "allocator/spill/guidance.h"
#include "allocator/walk/write_moves.h"

namespace regduel::allocator {

// By vreg of a planned program: the first unit of its home, -1 if it has none.
using Homes = std::vector<int>;

// The homes that the vregs of a planned program have in the end.
struct Placed {
  Homes homes;
  std::optional<MovedProgram> moved = std::nullopt;  // if homes change: the program with its moves, and its homes, in place of both
};

class PlannedProgram {
 public:
  //   costs   by long-lived vreg of the plan (spill_costs); a temporary cannot be spilled
  // The run and the plan outlive it; later changes of the plan have no effect.
  PlannedProgram(const Run& run, const Plan& plan, const std::vector<std::int64_t>& costs);
  PlannedProgram(const PlannedProgram&) = delete;
  PlannedProgram& operator=(const PlannedProgram&) = delete;

  [[nodiscard]] const SpillCode& code() const { return code_; }
  // Vregs of a file that have a live range, ascending.
  [[nodiscard]] std::span<const ir::VRegId> vregs(ir::RegFile file) const { return index_.vregs[ir::index(file)]; }
  [[nodiscard]] SpillGuidance& guidance() { return guidance_; }
  // The round that attempts work on. Constraints are found on the first call.
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
