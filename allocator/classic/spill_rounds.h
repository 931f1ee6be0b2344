// SPILL: rounds of guidance and attempts, the alternate allocator, and the last fallback.
//
//   guidance    for each file: the victims without which a point is over its budget. Before the program has spill code, they leave and
//               the next round begins
//   attempts    one a file, without the victims. Candidates without a place leave too (candidates_to_spill.h). If there are no victims
//               and every file fits, the rounds end. Who is held back leaves where nobody else does
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
  [[nodiscard]] std::optional<Homes> walk_all(Found& found);
  bool spill(const ir::PerFile<std::vector<ir::VRegId>>& vregs);
  bool change_plan(const Found& found);
  [[nodiscard]] bool is_as_before(ir::RegFile file) const;

  // A file that fits, with homes by vreg. They hold in a later round too, if the file has the same vregs, and spill code has changed
  // the operands of none: what is inserted for other files makes no two ranges overlap that did not before.
  struct Fitting {
    std::vector<ir::VRegId> vregs;  // empty = none
    std::vector<int> homes;         // of these
  };

  Progress& progress_;
  ir::PerFile<Fitting> fitting_;
  ir::PerFile<std::vector<int>> kept_;  // by long-lived vreg: homes in the attempt before
  std::optional<RoundIndex> index_;     // of the program without spill code
  std::int64_t round_ = 1;
};

}  // namespace regduel::allocator
