// One attempt at one register file: vregs in an order, each to its fat point. And what all attempts at one file share.
//
// Two register classes that share a file (R and Ralt, UR and URext) are placed together, so that the conflicts between them, class
// 0 of the source, are ordinary ones. Precoloured vregs come first. Without spilling, a vreg that finds no place below the limit
// may look kHeadroom units above it; that only measures by how much the attempt missed. With spilling, a vreg without a place takes
// the cheapest way out (source 000 "Assignment", case 3; source 001 "Spill Trigger"): it is spilled itself, or evicts what stands in
// one place, whichever costs less; a temporary that can do neither gets its instruction pinned.
//
// Source: source 000 "Assignment", "Per-Class Iteration", "End-of-Round Result". Tested by fatpoint_test.cpp and driver_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "allocator/assign/coalesced_classes.h"
#include "allocator/assign/constraints.h"
#include "allocator/assign/relaxation.h"
#include "allocator/assign/scan.h"
#include "allocator/spill/insert_spill_code.h"
#include "base/grouped.h"
#include "ir/allocator.h"
#include "ir/target.h"

namespace regduel::allocator {

// Cost of what cannot be spilled.
inline constexpr std::int64_t kUnspillable = std::int64_t{1} << 62;

// What each file would have to look for in the whole program.
struct RoundIndex {
  RoundIndex(const ir::Function& f, const Liveness& live);

  Grouped<ir::VRegId> vregs;         // by file: those with a live range, ascending
  ir::PerFile<int> max_live = {};    // largest number of units live at one moment
  std::vector<std::uint32_t> bound;  // numbers of the rets and of the instructions with clobbers, ascending
};

// By vreg: where a temporary would stand for it, were it spilled. Ascending, each instruction once. Not at copies, spills and
// refills: these become a refill or spill themselves.
class TemporaryLists {
 public:
  struct At {
    std::uint32_t number;       // of the instruction
    bool while_reading, after;  // the instruction
    bool may_vanish;            // it can be computed again elsewhere
  };
  TemporaryLists(const ir::Function& f, const Liveness& live);
  [[nodiscard]] std::span<const At> operator[](ir::VRegId v) const { return at_[v.index()]; }

 private:
  Grouped<At> at_;
};

class BankPairs;

// One lowered program, and what is known of it, for all attempts of a round.
struct Round {
  const SpillCode& lowered;
  const Liveness& live;
  const RoundIndex& index;
  const ConstraintLists& constraints;
  const std::vector<std::int64_t>& spill_cost;  // by vreg of the lowered program
  const Budget& budget;
  const ir::Target& target;
  ir::Fuel* fuel = nullptr;
  bool has_chains = true;            // knob FatPointChains: without it there are no coalesced classes
  const BankPairs* banks = nullptr;  // of file R, with knob 641
};

class Candidates;
class Observer;

enum class Order : std::uint8_t {
  ByStart,       // where the live range begins: optimal for scalars in SSA form, since reverse postorder visits dominators first
  WidestFirst,   // wide and aligned ones first, then by start: less fragmentation
  LongestFirst,  // wide and aligned ones first, then those that live longest: what is everywhere gets one place early
  BoundFirst,    // temporaries first, then as WidestFirst
  DearestFirst,  // temporaries first, then those that cost most to spill for each unit and moment
};

struct AttemptOptions {
  Order order = Order::ByStart;
  bool coalesces = false;  // places coalesced classes as one
  bool weights = true;     // without them every vreg takes the lowest place that is free
  bool may_spill = false;
  bool evicts = true;           // with may_spill: knob FatPointEviction
  bool has_affinity = true;     // type 15 weighs
  bool counts_choices = false;  // Attempt::placed_by is wanted
  bool first_pass = false;
  int threshold = 50;                      // knob 684
  Relaxation relaxation = {};              // which soft constraints this iteration leaves out; with bank_aware, the bank filter too
  const Candidates* candidates = nullptr;  // homes to take before the scan, where they are free (knob 628)
  int ceiling = std::numeric_limits<int>::max();  // the attempt is given up, and does not fit, once it needs more units
  // With may_spill: homes of an earlier round by vreg, as far as they go, -1 = none. A vreg keeps its home if that is free.
  std::span<const int> kept = {};
  std::span<const ir::VRegId> absent = {};      // ascending: vregs that need no home any more
  const TemporaryLists* temporaries = nullptr;  // with it, room is kept free for those of spilled vregs
  Observer* observer = nullptr;                 // is shown what happens to one vreg (explain.h)
};

// How many homes a scan found, by what told them from the lowest that was free.
struct PlacedBy {
  int first_fit = 0;  // nothing: it is the lowest
  int secondary = 0;
  int primary = 0;
};

struct Attempt {
  std::vector<int> home;  // by vreg of the lowered program: first unit, -1 = none or of another file
  bool fits = false;
  int used = 0;                       // highest unit used + 1
  UnitSet units;                      // all that are used
  std::int64_t copy_weight = 0;       // weight of the affinities that were not met
  PlacedBy placed_by;                 // with AttemptOptions::counts_choices
  std::int64_t pressure = 0;          // cumulative: the primary weight of every home at the moment it was taken
  std::int64_t spill_cost = 0;        // of to_spill: counted at the spill, not at each commit (DECISIONS)
  std::vector<ir::VRegId> to_spill;   // ascending
  std::vector<std::uint32_t> to_pin;  // instructions (of the program before spill code), ascending
};

class FileAllocator {
 public:
  // Requires that the file has vregs. The round must outlive it.
  FileAllocator(const Round& round, ir::RegFile file);
  // The same where these may not be used either.
  [[nodiscard]] FileAllocator without(const UnitSet& units) const;

  // Largest number of units live at one moment.
  [[nodiscard]] int max_live() const { return round_.index.max_live[ir::index(file_)]; }
  [[nodiscard]] Attempt run(const AttemptOptions& options) const;
  // Size of the part of the file that may be used: highest allocatable unit + 1.
  [[nodiscard]] int limit() const { return limit_; }
  [[nodiscard]] const Round& round() const { return round_; }
  [[nodiscard]] ir::RegFile file() const { return file_; }
  [[nodiscard]] std::span<const ir::VRegId> vregs() const { return vregs_; }
  //   absent   ascending
  [[nodiscard]] std::vector<ir::VRegId> vregs_without(std::span<const ir::VRegId> absent) const;
  [[nodiscard]] const CoalescedClasses& classes() const { return classes_; }
  // Hard conflicts before any vreg has a home: clobbers, and moments at which callee-saved units are restored.
  [[nodiscard]] const Occupancy& base() const { return base_; }
  [[nodiscard]] const UnitSet& not_allocatable() const { return not_allocatable_; }
  [[nodiscard]] const UnitSet& callee_saved() const { return callee_saved_; }
  [[nodiscard]] bool has_callee_saved() const { return has_callee_saved_; }
  // The lowest allocatable unit, limit() where there is none.
  [[nodiscard]] int first_unit() const { return first_unit_; }
  // Units that clobbers leave to a vreg; kMaxUnits where they take none from it, or where what they leave is enough for all that is
  // ever live at once.
  [[nodiscard]] int choice(ir::VRegId v) const { return choice_.empty() ? ir::kMaxUnits : choice_[v.index()]; }

 private:
  void block_fixed_moments();
  void count_choices();
  const Round& round_;
  ir::RegFile file_;
  std::span<const ir::VRegId> vregs_;
  CoalescedClasses classes_;
  int limit_;
  Occupancy base_;
  std::vector<int> choice_;  // by vreg; empty where all have all the choice there is
  UnitSet not_allocatable_;
  UnitSet callee_saved_;
  bool has_callee_saved_;
  int first_unit_;
};

}  // namespace regduel::allocator
