// Valid rewritings: correct allocations of the standard mix, rewritten by one to four patterns each into correct ones that no
// allocator here would make. Every judge must accept every one of them; that a judge is undecided is counted, with its reason.
//
// Tested by rewritings_test.cpp; `regduel faults --rewritings N`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/standard_mix.h"
#include "trial/faults/faults.h"

namespace regduel::trial {

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

inline constexpr std::int64_t kRewritingsOfOne = 8;  // of one allocation

struct RewritingRun {
  std::int64_t rewritings = 0;
  std::vector<std::string_view> patterns;  // that were applied
  std::vector<std::string> undecided;      // "judge: reason", one entry a judgement
  std::vector<FaultMiss> misses;           // "false-alarm", "ill-formed" or "internal-error"
};
// kRewritingsOfOne rewritings of the subject of that number. The same arguments, the same result.
[[nodiscard]] RewritingRun run_rewritings_on(std::uint64_t seed, std::uint64_t index);

struct RewritingTable {
  std::int64_t programs = 0, rewritings = 0, judgements_undecided = 0;
  std::map<std::string_view, std::int64_t> patterns;  // how often each was applied
  std::map<std::string, std::int64_t> reasons;
  std::int64_t num_misses = 0;
  std::vector<FaultMiss> misses;  // at most 100 are kept
  void add(RewritingRun run);
};

}  // namespace regduel::trial
