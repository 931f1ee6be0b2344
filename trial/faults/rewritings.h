// Valid rewritings: correct allocations of the standard mix, rewritten by one to four patterns each into correct ones that no
// allocator here would make. Every judge must accept every one of them; undecided verdicts are counted by their reason.
//
// Tested by patterns_test.cpp; `regduel faults --rewritings N`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial/faults/drawn_subject.h"

namespace regduel::trial {

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
