// The report of a campaign, while it runs and when it ends.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "fuzz/campaign/tally.h"
#include "fuzz/triage/failure.h"

namespace regduel::fuzz {

// A finding: one bug (bucket), or a failure of which no case has been reduced (yet).
struct Found {
  std::string bucket;
  Failure failure;
  std::string message, decision, state, path;  // path: of the reproducer
  std::uint64_t count = 0;                     // cases that showed it; those that were reduced where it has a bucket
  std::uint32_t instructions = 0;
};

struct CampaignStatus {
  double seconds = 0, end_seconds = 0;  // end_seconds: when no more programs are tried; 0 = unknown
  std::uint64_t tried = 0, end = 0;     // end: of the runs; 0 = unknown
  std::uint64_t allocations = 0, inputs = 0, features = 0, edges = 0, all_edges = 0, suppressed = 0, seeds_left = 0,
                to_understand = 0;
  int jobs = 0, understanding = 0, crashes = 0;
  std::vector<std::uint64_t> tried_by;  // each worker
  std::vector<const Found*> found;
};

struct CampaignResult {
  std::uint64_t first = 0, tried = 0, suppressed = 0, inputs = 0, features = 0, edges = 0, all_edges = 0;
  bool is_interrupted = false;
  double seconds = 0;
  Tally tally;
  std::vector<Found> found;  // by bucket or signature
  std::string totals;        // of the database
  // Workers that ended while they tried nothing, by how (SIGSEGV, exit-3): no finding shows why. SIGKILL: most often, memory was
  // short.
  std::map<std::string, int> lost_workers;
};

// The findings for people, a paragraph each, and as a list of objects.
[[nodiscard]] std::string text_of(const std::vector<Found>& found);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<Found>& found);

}  // namespace regduel::fuzz
