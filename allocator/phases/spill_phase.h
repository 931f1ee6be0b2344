// Phase 2, SPILL: rounds that spill what guidance names and what eviction finds, and the last fallback.
//
//   1  guidance      for each file: the vregs to spill so that no point is over its budget
//   2  attempts      for each file: a few of the table where nothing has to go, else one that evicts. All fit: done. Not in the
//                    first round where guidance names vregs: these bring temporaries with them, so that it is too early to ask what
//                    else has to go
//   3  change        spill the victims of both; what has no room for a temporary pins its instruction. Insert spill code anew
//   4  fallback      after so many rounds (a knob), or where nothing changes: everything in memory, every instruction packed by
//                    itself
//   5  second chance what is spilled goes back to registers, all of it at once, and leaves again by steps 2 and 3 without guidance.
//                    Guidance decides before it is known what fits, earlier rounds without what later ones make room for, and the
//                    fallback not at all
//
// A round changes the plan for good, so it ends: a vreg leaves for memory or a pack, a pack for the slots of its members, an
// instruction is barred to waiting refills, or pinned. With everything in memory and each instruction packed, what is not
// impossible fits. Source: source 000 "Retry Loop: Phase 2: SPILL"; source 001 "Spill Retry Loop". Tested by driver_test.cpp,
// driver_trace_test.cpp and fatpoint_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "allocator/phases/progress.h"

namespace regduel::allocator {

class SpillPhase {
 public:
  explicit SpillPhase(Progress& progress);

  // Whether guidance, asked of the program before it has any spill code, names vregs. A large program saves a round by that.
  [[nodiscard]] bool is_over_before_spill_code();
  // The victims of the first round, files with points over budget, and bytes that would be moved for these victims, as often as
  // they would be. Requires the same as run_rounds().
  void find_first_victims();
  [[nodiscard]] ir::PerFile<bool> scarce_files();
  [[nodiscard]] std::int64_t moves_of_victims();
  // Homes of the planned program, where a round fits and what is spilled does not move more than so many bytes, as often as they
  // would be (Progress::moved). Requires: no instruction is impossible, and a planned program unless is_over_before_spill_code().
  [[nodiscard]] std::optional<Homes> run_rounds(std::int64_t most_moved = std::numeric_limits<std::int64_t>::max());
  // Other homes, after run_rounds() or run_fallback() had some. Nothing where what has to leave moves more than before; the plan
  // and the planned program then are of no further use.
  [[nodiscard]] std::optional<Homes> run_second_chance();
  // The homes with everything in memory. Without a value only where architectural registers leave too little room.
  [[nodiscard]] std::optional<Homes> run_fallback();

 private:
  void find_victims(SpillGuidance& guidance);
  [[nodiscard]] bool has_victims() const;
  [[nodiscard]] std::optional<Homes> attempt_all();
  bool change_plan();
  void keep_all_in_memory();

  Progress& progress_;
  bool is_guided_;
  VictimRank rank_;  // in the queue of guidance, of the vreg that is observed
  std::int64_t round_ = 1;
  std::int64_t most_at_first_ = std::numeric_limits<std::int64_t>::max();  // Eviction::most_moved, in the second chance
  bool has_first_victims_ = false;
  ir::PerFile<Attempt> misfits_;                  // attempts with eviction of this round that do not fit
  ir::PerFile<std::vector<ir::VRegId>> victims_;  // of guidance in this round
  ir::PerFile<std::vector<int>> kept_;            // by long-lived vreg: homes in the last attempt with eviction
};

}  // namespace regduel::allocator
