// Several planted bugs at a time: does the triage tell them apart, and does it give each of them one name?
//
// A campaign on one core with all of the bugs switched on. Of each allocator's first failure of an input, by signature, the 1st,
// 2nd, 4th, 8th ... sighting is understood (triage.h), which never looks at the switches. Afterwards each reduced case is asked,
// with one bug switched on at a time, which of them makes it fail.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "duel/case.h"
#include "fuzz/triage/triage.h"

namespace regduel::trial {

struct TogetherOptions {
  std::vector<std::string> bugs;
  std::uint64_t seed = 1;
  double seconds = 600;
  std::vector<duel::Case> seeds;            // tried first
  std::uint64_t reduce_budget = 2'000'000;  // of one case (reduce.h)
};

struct SortedCase {
  fuzz::Understood understood;
  // The bugs each of which alone makes the reduced case fail as it does; where no bug does, one entry: the bugs that do so
  // together, joined by '+'.
  std::vector<std::string> causes;
};

// Calls take() with each case, in the order in which they were found. Requires has_planted_bugs(); leaves none of them on.
// Returns the number of inputs that were tried.
std::uint64_t hunt_together(const TogetherOptions& options, const std::function<void(const SortedCase&)>& take);

// How well buckets and bugs go together.
struct Sorting {
  std::size_t cases = 0, buckets = 0, bugs = 0;
  std::size_t in_majority = 0;  // cases whose causes include the commonest one of their bucket
  std::size_t in_largest = 0;   // cases that stand in the bucket where most of the cases of one of their causes are
  std::size_t several = 0;      // cases that each of several bugs causes alone; any of these bugs counts as right, in both figures
  std::size_t joint = 0;        // cases that take several bugs together; any of these counts as right, too
};
// A case: its bucket, and its causes as in SortedCase.
struct Labelled {
  std::string bucket;
  std::vector<std::string> causes;
};
[[nodiscard]] Sorting measure_sorting(std::span<const Labelled> cases);

}  // namespace regduel::trial
