// A correct allocation of a program of the standard mix, from which faults and rewritings start, and the record of a case to be
// looked into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "generate/standard_mix.h"
#include "ir/allocator.h"
#include "oracles/judge.h"

namespace regduel::trial {

inline constexpr std::size_t kLargestSubject = 6000;  // instructions after allocation; larger programs are left out

// A case to be looked into.
struct FaultMiss {
  std::string operator_name;  // empty for a false alarm
  std::string kind;  // "escaped", "memcheck-category", "structure-category", "false-alarm", "internal-error"; relax.h has more
  std::uint64_t seed = 0, index = 0;
  std::string detail;         // what the judges said
  std::string before, after;  // RIR
  std::string target;
  ir::Limits limits;
};

// A miss as two files: the program before, and the program after with a head that says what it is.
[[nodiscard]] FaultMiss make_miss(std::string kind, const oracles::Case& c, std::uint64_t seed, std::uint64_t index);
// Allocates `program` for c.target; nothing where that fails. An internal error of the allocator becomes a miss, "internal-error",
// of `c`.
[[nodiscard]] std::optional<ir::Allocation> allocate_or_miss(const ir::Allocator& allocator, const ir::Function& program,
                                                             const oracles::Case& c, const ir::AllocOptions& options,
                                                             std::uint64_t seed, std::uint64_t index,
                                                             std::vector<FaultMiss>& misses);

// A program of the standard mix and a correct allocation of it: the allocators take turns.
struct DrawnSubject {
  generate::StandardCase c;
  ir::Target target;
  std::string allocator;
  ir::Function after;
  ir::Limits limits;
};
// Nothing where the program is impossible at its limits, or has more than `largest` instructions after allocation. An internal
// error of the allocator becomes a miss.
[[nodiscard]] std::optional<DrawnSubject> draw_subject(std::uint64_t seed, std::uint64_t index, std::size_t largest,
                                                       std::vector<FaultMiss>& misses);
// Applies one to four patterns, drawn, one after another, and returns the names of those that found a place. `after` and `limits`
// become those of the result.
std::vector<std::string_view> rewrite(const ir::Function& before, const ir::Target& target, ir::Function& after, ir::Limits& limits,
                                      Random& random);

}  // namespace regduel::trial
