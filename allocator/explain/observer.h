// The observer of one vreg: attempts and the driver show it what they do, and it keeps that for explain.h.
//
// Null everywhere in a usual run, which then asks nothing but whether it is. It never changes what is decided: explain_test.cpp
// compares both runs.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "allocator/assign/assign.h"
#include "allocator/assign/pressure.h"
#include "allocator/explain/explain.h"
#include "allocator/spill/guidance.h"

namespace regduel::allocator {

// What an attempt knows when it has the vreg in hand; the arrays are filled.
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
  bool simple = false;  // select_simple, else select_fatpoint
  bool first_pass = false;
  bool weights = true;
  bool is_weighed = true;
  int threshold = 0;
  Relaxation relaxation;
  UnitSet by_bank;  // left out by the bank filter, if what is left has a place below its ceiling
  int bank_ceiling = 0;
  std::function<std::int64_t(int)> primary_at;
  std::function<std::optional<int>(const Constraint&)> target_of;  // of types 0 to 14
};

class Observer {
 public:
  Observer(const ir::Function& program, ir::VRegId vreg);

  [[nodiscard]] ir::VRegId vreg() const { return vreg_; }
  [[nodiscard]] ir::RegFile file() const { return e_.file; }
  [[nodiscard]] bool is_about(std::span<const ir::VRegId> members) const;

  // --- shown by the driver
  //   stands_for   by vreg, the one that it is one with (merge_copies.h); empty = each is itself
  // From here on it is that one that is looked at.
  void follow(std::span<const ir::VRegId> stands_for);
  //   first_of   by vreg, where live ranges were split: the one that it is a piece of; empty = nowhere
  // Both must outlive the run.
  void begin_run(const ir::Function& without_phis, std::span<const ir::VRegId> first_of, bool lives);
  void begin_attempt(const FileAllocator& allocator, const AttemptOptions& options, std::int64_t round, std::int64_t number,
                     bool is_walk = false);
  void end_attempt(const Attempt& result);
  //   rank   by guidance, if it has a cost
  void spilled(const VictimRank& rank, std::int64_t round, std::int64_t cost);
  // The last of these, and the last finish(), hold: a result may be improved once more.
  void emitted(std::int64_t round, std::int64_t number);
  void finish(const SpillCode& lowered, const std::vector<int>& homes, const Plan& plan, bool is_fallback);

  // --- shown by attempts
  //   unit   the choice, -1 = none
  Step& step(StepKind kind, const ScanState& state, int candidate, int unit);
  [[nodiscard]] std::string vreg_name(ir::VRegId v) const;

  [[nodiscard]] Explanation take() { return std::move(e_); }

 private:
  [[nodiscard]] std::string at(std::uint32_t number) const;
  void see_range(Step& s, const ScanState& state) const;
  void see_constraints(Step& s, const ScanState& state) const;
  void see_units(Step& s, const ScanState& state) const;
  void say_what_forbids(Step& s, const ScanState& state, const UnitSet& taken) const;
  void rank(Step& s, const ScanState& state, const UnitSet& taken) const;

  const ir::Function& program_;
  ir::VRegId vreg_;
  const ir::Function* without_phis_ = nullptr;
  std::span<const ir::VRegId> first_of_;
  const Round* round_ = nullptr;
  int run_ = -1;
  Explanation e_;
};

}  // namespace regduel::allocator
