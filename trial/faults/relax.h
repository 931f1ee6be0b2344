// Relaxed constraints: one kind of constraint is dropped from a program before allocation, the relaxed program is allocated, and
// the result is put back in terms of the program as it was. An allocation that was made in ignorance of a rule is the likeliest way
// to break the rule everywhere at once. This file decides whether the result breaks the rule, by looking for that rule alone. A
// static judge must reject a result that breaks it; all judges must accept a result that happens to keep it.
//
//   tied           ties are dropped                    broken: a tied def is not in the register of its use
//   early-clobber  early-clobber marks are dropped     broken: such a def overlaps something that the instruction reads
//   fixed          fixed registers are dropped         broken: a fixed operand is elsewhere
//   class          uniform vregs are allocated in R    broken: an operand is in another file than its vreg's
//   alignment      every alignment is 1                broken: a tuple is not aligned
//   clobbers       clobber lists are dropped           broken: a value that is read later sat in a clobbered register, or the
//                                                      trace changes
//   slot-size      every slot has at most 4 bytes      broken: a spill or refill reaches beyond its slot
//
// Tested by relax_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trial/faults/faults.h"

namespace regduel::trial {

enum class Relaxation : std::uint8_t { Tied, EarlyClobber, Fixed, Class, Alignment, Clobbers, SlotSize };
inline constexpr std::size_t kNumRelaxations = 7;
inline constexpr std::array<Relaxation, kNumRelaxations> kAllRelaxations = {
    Relaxation::Tied,      Relaxation::EarlyClobber, Relaxation::Fixed,   Relaxation::Class,
    Relaxation::Alignment, Relaxation::Clobbers,     Relaxation::SlotSize};
[[nodiscard]] std::string_view name(Relaxation r);  // "tied", "early-clobber", ...

// The program without its constraints of this kind; nothing where it has none, or where it would not be well-formed without them.
// SlotSize leaves the program as it is.
[[nodiscard]] std::optional<ir::Function> relax(const ir::Function& program, const ir::Target& target, Relaxation kind);
// The allocation of the relaxed program as an allocation of `before`.
[[nodiscard]] ir::Function restore(const ir::Function& before, const ir::Function& relaxed_after, Relaxation kind);

enum class Truth { Kept, Broken, Undecided };
// Undecided exists for clobbers alone, where only a guarded read could see the damage, or one that is undefined on some path.
[[nodiscard]] Truth truth(const oracles::Case& c, Relaxation kind);

struct RelaxRun {
  bool is_subject = false;  // false: nothing to relax, or no allocation
  Relaxation kind = Relaxation::Tied;
  Truth truth = Truth::Kept;
  bool rejected = false;          // by a static judge
  bool accepted = false;          // no judge objects
  std::optional<FaultMiss> miss;  // "relaxed-accepted", "relaxed-rejected", or "internal-error"
};
[[nodiscard]] RelaxRun run_relaxed_on(std::uint64_t seed, std::uint64_t index);  // the kind is index % kNumRelaxations

struct RelaxRow {
  std::int64_t tried = 0, broken = 0, rejected = 0, kept = 0, accepted = 0, undecided = 0;
};
class RelaxTable {
 public:
  void add(RelaxRun run);
  [[nodiscard]] const std::array<RelaxRow, kNumRelaxations>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<FaultMiss>& misses() const { return misses_; }
  [[nodiscard]] std::int64_t num_misses() const { return num_misses_; }

 private:
  std::array<RelaxRow, kNumRelaxations> rows_ = {};
  std::vector<FaultMiss> misses_;
  std::int64_t num_misses_ = 0;
};

}  // namespace regduel::trial
