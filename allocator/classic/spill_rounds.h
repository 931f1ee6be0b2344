// SPILL: rounds of guidance and attempts, the alternate allocator, and the last fallback.
//
//   guidance    for each file: the victims without which a point is over its budget. They leave, the program gets its spill code, and
//               the next round begins
//   attempts    where guidance names nobody: one attempt a file, in which candidates without a place leave
//               (candidates_to_spill.h). If every file fits, the rounds end. Who is held back leaves where nobody else does
//   alternate   with knob 622, after a number of rounds: the instruction walk names who leaves, round by round
//   fallback    all values in memory, each instruction packed by itself
//
// Every round changes the plan for good: a vreg leaves for memory or a pack, a pack for the slots of its members, an instruction is
// barred to waiting refills or pinned. So the rounds end.
//
// Source: source 000 "Retry Loop: Phase 2", "Per-Instruction Assignment"; source 001 "Spill Retry Loop", "Spill Guidance Engine".
// Tested by classic_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/classic/fat_points.h"
#include "allocator/phases/progress.h"
#include "allocator/spill/guidance.h"

namespace regduel::allocator {

class SpillRounds {
 public:
  explicit SpillRounds(Progress& progress) : progress_(progress) {}

  // True if a file is over its budget in the program without spill code. Its weight of spill costs is that of high pressure.
  [[nodiscard]] bool is_pressure_high();
  // Each requires that no instruction is impossible, and gives homes of the planned program, or nothing. The second is for when the
  // first gave nothing, the third for when neither did.
  [[nodiscard]] std::optional<Homes> run();
  [[nodiscard]] std::optional<Homes> run_alternate();
  [[nodiscard]] std::optional<Homes> run_fallback();

 private:
  // What one round finds out, by file.
  struct Found {
    ir::PerFile<std::vector<ir::VRegId>> victims, to_spill, held_back;
    std::vector<std::uint32_t> to_pin;
  };
  void find_victims(Found& found);
  [[nodiscard]] std::optional<Homes> attempt_all(Found& found);
  [[nodiscard]] std::optional<Homes> walk_all(Found& found, ir::PerFile<std::vector<int>>& kept);
  bool spill(const ir::PerFile<std::vector<ir::VRegId>>& vregs);
  bool change_plan(const Found& found);

  Progress& progress_;
  std::int64_t round_ = 1;
};

}  // namespace regduel::allocator
