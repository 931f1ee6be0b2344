// SPILL: rounds that spill the victims of guidance and what fits in no arrangement, and the last fallback.
//
//   1  guidance       for each file: the vregs to spill so that no point is over its budget
//   2  attempts       for each file for which guidance names no vreg: a few of the table, and then a walk that moves homes
//                     (walk/file_walk.h). Files that the threads of a warp share have an attempt that evicts instead. If all files fit,
//                     the rounds end. The first round makes no attempts if guidance names vregs: the temporaries of these vregs are
//                     still missing, so the attempts would tell too little
//   3  change         spill what guidance and the attempts name; a temporary without room pins its instruction. Insert spill code anew
//   4  fallback       after a number of rounds (a knob), or if the plan does not change: all values in memory, every instruction
//                     packed by itself
//
// The rounds end because each changes the plan for good: a vreg leaves for memory or a pack, a pack for the slots of its members, an
// instruction is barred to waiting refills, or pinned. With all values in memory and each instruction packed, every program without an
// impossible instruction fits. Source: source 000 "Retry Loop: Phase 2: SPILL"; source 001 "Spill Retry Loop". Tested by driver_test.cpp,
// driver_trace_test.cpp and fatpoint_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "allocator/assign/attempt.h"
#include "allocator/phases/progress.h"

namespace regduel::allocator {

class SpillPhase {
 public:
  explicit SpillPhase(Progress& progress);

  // True if guidance names victims in the program before any spill code. A large program saves a round by that.
  [[nodiscard]] bool is_over_before_spill_code();
  // The victims of the first round, the files with points over budget, and the weighted bytes that these victims would move; those of
  // files that are not split alone if `is_split`. Require the same as run_rounds().
  void find_first_victims();
  [[nodiscard]] ir::PerFile<bool> scarce_files();
  [[nodiscard]] std::int64_t moves_of_victims(bool is_split);
  // Spills those victims of another phase's first round that are predicates, before the first planned program is made: the other one
  // is that of the same program with whole live ranges, and predicates that go into packs are not split.
  void begin_with(const SpillPhase& whole);
  // Homes of the planned program of the round that fits. Requires: no instruction is impossible, and a planned program unless is_over_before_spill_code().
  [[nodiscard]] std::optional<Placed> run_rounds();
  // The homes with all values in memory. Nothing only if architectural registers leave too little room.
  [[nodiscard]] std::optional<Placed> run_fallback();

 private:
  void find_victims(SpillGuidance& guidance);
  [[nodiscard]] bool has_victims() const;
  [[nodiscard]] bool may_walk(ir::RegFile file) const;
  [[nodiscard]] bool may_pack(ir::RegFile file) const;
  [[nodiscard]] std::optional<Placed> attempt_all();
  bool change_plan();

  Progress& progress_;
  bool is_guided_;
  VictimRank rank_;  // in the queue of guidance, of the vreg that is observed
  std::int64_t round_ = 1;
  bool has_first_victims_ = false;
  ir::PerFile<Attempt> misfits_;                  // attempts with eviction of this round that do not fit
  ir::PerFile<std::vector<ir::VRegId>> victims_;  // of guidance in this round
  ir::PerFile<bool> has_walked_ = {};             // a walk has fit
  ir::PerFile<std::vector<int>> kept_;            // by long-lived vreg: homes in the last attempt with eviction
};

}  // namespace regduel::allocator
