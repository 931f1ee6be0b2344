// The state that the phases of a run hand on: the plan, the planned program, and which files were under pressure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/phases/planned_program.h"
#include "allocator/spill/predicate_packs.h"

namespace regduel::allocator {

// Source 000 "Per-Class Iteration": classes 1 to 6; those of one file go together, so that the conflicts between them, class 0 of
// the source, are ordinary ones. Then the barriers (9).
inline constexpr ir::RegFile kFileOrder[] = {ir::RegFile::R,   ir::RegFile::UR, ir::RegFile::P, ir::RegFile::UP,
                                             ir::RegFile::Acc, ir::RegFile::B,  ir::RegFile::UB};

class Progress {
 public:
  explicit Progress(const Run& of) : run(of), plan(first_plan(of)), packs(of.facts.f, of.facts.live, of.budget) {}

  // Costs under the present pressure, by vreg of the program before spill code.
  [[nodiscard]] const std::vector<std::int64_t>& costs();
  // Bytes moved, by vreg (spill_moves): the basis of costs().
  [[nodiscard]] const std::vector<std::int64_t>& moves();
  // Makes the planned program from the present plan.
  void insert_spill_code();
  [[nodiscard]] PlannedProgram& program() { return *program_; }
  [[nodiscard]] bool has_program() const { return program_.has_value(); }

  // Change the plan; false if it does not change. A predicate goes into a pack if there is room; a pack is spilled by moving its
  // members to memory. An edge copy cannot be pinned; its operands are spilled to memory instead.
  bool spill(ir::VRegId v, std::int64_t round, const VictimRank& rank);
  bool pin(std::uint32_t inst, std::int64_t round, const VictimRank& rank);
  // For a temporary without a register: refilled values may no longer wait at its instruction; where that is so already, the
  // instruction is pinned.
  bool make_room_at(std::uint32_t inst, std::int64_t round, const VictimRank& rank);
  // Every value in memory, and each instruction pinned: the plan of the last fallback.
  void keep_all_in_memory(std::int64_t round, const VictimRank& rank);

  const Run& run;
  Plan plan;
  PredicatePacks packs;
  ir::PerFile<bool> high_pressure = {};
  ir::RegFile first_misfit = ir::RegFile::R;  // the first file, in kFileOrder, that did not fit in the last attempts

 private:
  [[nodiscard]] std::vector<std::int64_t> costs_with_packs();

  std::optional<PlannedProgram> program_;
  std::vector<std::int64_t> moves_;  // by vreg of the program before spill code: spill_moves
  std::vector<std::int64_t> costs_;  // under costs_pressure_
  ir::PerFile<bool> costs_pressure_ = {};
  Items items_;
};

}  // namespace regduel::allocator
