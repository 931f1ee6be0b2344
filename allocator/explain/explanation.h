// An explanation: why a vreg has its register, or none, as data for people and for JSON.
//
// Numbers of vregs, instructions and units are those of the program's text form. The observer (observer.h) fills the explanation
// while the allocator runs; explain.h returns it. Tested by explain_test.cpp; the text by cli/cli_test.cpp and, on the examples of
// docs/explain.md, by scripts/check/check-readme.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/assign/attempt.h"
#include "allocator/assign/attempt_listener.h"
#include "allocator/assign/constraints.h"
#include "allocator/assign/geometry.h"
#include "ir/allocator.h"

namespace regduel::allocator {

// The reason why a footprint that begins at a unit is not the home, or Chosen. Reasons before Chosen forbid the unit; those after it
// rank it lower.
enum class UnitReason : std::uint8_t {
  OutsideFile,  // the footprint ends beyond the file
  AboveLimit,   // beyond the limit, or beyond what the attempt looks at
  Misaligned,
  Reserved,   // by the target, or a callee-saved register that cannot be saved
  Clobbered,  // `at` an instruction in the live range
  Restored,   // a callee-saved register, which holds the caller's value again `at` a ret in the live range
  Taken,      // `by` a vreg that lives at the same time
  KeptFree,   // for temporaries of vregs that have been spilled in this attempt
  Chosen,
  CalleeSavedFirst,  // callee-saved and not saved yet, so it comes last
  HeavierPrimary,    // free, but more primary weight than the choice
  HeavierSecondary,  // as little primary, but more secondary weight
  HigherUnit,        // the same weights, a higher number
  BankConflict,      // knob 641: in the bank of another source of the same instruction
  NotLookedAt,       // free, but there was no scan
};
inline constexpr int kNumUnitReasons = 15;
[[nodiscard]] std::string_view name(UnitReason r);  // "taken", "heavier_primary" ...

struct SeenUnit {
  UnitReason reason = UnitReason::NotLookedAt;
  std::string by;  // Taken: "%4", or "temporary of #12"
  std::string at;  // Clobbered, Restored: "#12"
  std::int64_t primary = 0, secondary = 0;
};

// Half-open [begin, end) of the points of liveness.h, and the first and last moment in words: "#3", 'W'.
struct SeenInterval {
  std::uint32_t begin = 0, end = 0;
  std::string first, last;
  char first_moment = 'R', last_moment = 'R';  // R reads, C clobbers, W writes
};

// Whether a constraint weighed on the arrays, or the reason why not.
enum class Counted : std::uint8_t {
  Yes,
  InClass,    // the partner is placed together with it
  NoWeights,  // the attempt only packs
  PartnerHasNoHome,
};
[[nodiscard]] std::string_view name(Counted c);

struct SeenConstraint {
  ConstraintType type = ConstraintType::PointInterference;
  std::string of;       // the member of the class that has it
  std::string partner;  // empty = none
  int weight = 0;
  bool is_soft = true;
  Counted counted = Counted::Yes;
  std::optional<int> target;  // its target unit (types 4, 9, 10: the number of the custom constraint)
};

[[nodiscard]] std::string_view name(StepKind k);

// One step of an attempt about the vreg.
struct Step {
  StepKind kind = StepKind::Alone;
  std::vector<std::string> members;  // of the class placed as one; the vreg alone
  Geometry geometry;
  std::vector<SeenInterval> range;
  std::vector<SeenConstraint> constraints;
  std::int64_t primary_weight = 0;  // the sum of the weights of primary constraints
  std::vector<SeenUnit> units;      // by first unit of the footprint
  bool is_precoloured = false;      // it keeps its own register
  int unit = -1;                    // the choice, -1 = none
  std::vector<std::string> leave;   // MakesRoom: the vregs that leave
  std::string by;                   // Displaced: for which vreg
  std::int64_t own_cost = -1;       // its spill cost, -1 = unspillable or not asked
  std::int64_t room_cost = -1;      // the cost if others leave, likewise
};

struct SeenAttempt {
  int run = 0;             // 1 = with the whole limit, after the register usage level had asked for too few
  std::int64_t round = 0;  // 0 = without spilling
  std::int64_t number = 0;
  Order order = Order::ByStart;
  bool may_spill = false, coalesces = false, weights = true;
  int limit = 0;
  std::vector<Step> steps;
  int home = -1;              // at the end
  bool is_in_memory = false;  // from an earlier round
  bool is_spilled = false, fits = false, is_given_up = false, is_emitted = false;
  int used = 0;  // highest unit + 1; no meaning if the attempt was given up
};

enum class Spiller : std::uint8_t { None, Guidance, Eviction, Walk, Fallback, Fuel, Unread, Split };
[[nodiscard]] std::string_view name(Spiller s);

struct SeenSpill {
  Spiller by = Spiller::None;
  std::int64_t round = 0;
  std::int64_t cost = -1;   // by cost.h, -1 = not known
  std::int64_t relief = 0;  // Guidance: units and moments over budget that it frees
  int place = -1;           // Guidance: number of victims before it
  std::string next;         // Guidance: the next vreg in the queue, empty = none
  std::int64_t next_cost = 0, next_relief = 0;
  bool is_remat = false;                    // rematerialised instead of refilled
  bool is_packed = false;                   // in a bit of a register
  int refills = 0, stores = 0, remats = 0;  // instructions in the emitted program
};

struct Place {
  std::uint32_t inst = 0;  // its id
  std::string where;       // "R4"
};

// The vreg changes its register.
struct SeenMove {
  std::string where;  // "before #3", "from b1 to b2"
  int from = 0, to = 0;
};

struct Explanation {
  ir::VRegId asked, root;  // the same unless the vreg asked for is an alias
  std::string root_text;   // "%4 R b64 align 2": as declared
  ir::VRegId one_with;     // the vreg that it is merged into (merge_copies.h); invalid = none
  ir::RegFile file = ir::RegFile::R;
  bool lives = false;
  bool is_architectural = false;
  std::vector<SeenAttempt> attempts;
  int shown = -1;  // the deciding attempt: the emitted one, or the one that spilled it; -1 = none
  int home = -1;   // first unit in the emitted program, -1 = in memory, or never live
  SeenSpill spill;
  bool is_walked = false;             // its home was found on a walk (walk/file_walk.h), and may change
  std::vector<SeenMove> moves;        // of a walk; of the piece that kept its number
  int pieces = 0;                     // number of pieces, with the one in memory (split_program.h); 0 = it is whole
  std::vector<std::uint32_t> pinned;  // ids of pinned instructions of which it is an operand
  std::vector<Place> places;          // registers of its operands, in program order; without those of deleted instructions
};

}  // namespace regduel::allocator
