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
  bool is_new = true;  // false: an earlier session has found it, and it failed then
};

// What earlier sessions of the campaign have left in the database.
struct Earlier {
  std::uint64_t sessions = 0, programs = 0, findings = 0, not_understood = 0;  // of the allocators that take part now
  std::uint64_t left_alone = 0;                                                // findings and cases of others
  std::vector<std::string> absent;                                             // those allocators
};
// "resumed: session 2, 1216 programs, 4 findings, 38 cases not understood yet"; "" where there was no session.
[[nodiscard]] std::string text_of(const Earlier& earlier);

struct CampaignStatus {
  double seconds = 0, end_seconds = 0;  // end_seconds: when no more programs are tried; 0 = unknown
  std::uint64_t tried = 0, end = 0;     // end: of the runs; 0 = unknown
  std::uint64_t allocations = 0, inputs = 0, features = 0, edges = 0, all_edges = 0, suppressed = 0, seeds_left = 0,
                to_understand = 0;
  int jobs = 0, understanding = 0, crashes = 0;
  std::vector<std::uint64_t> tried_by;        // each worker
  std::vector<const Found*> found;            // those that are new
  std::uint64_t known = 0;                    // findings of earlier sessions that still fail
  std::uint64_t observations = 0;             // gaps of quality
  double last_feature = 0, last_finding = 0;  // seconds when the last new one came; 0 = none yet
  const Earlier* earlier = nullptr;
};

struct CampaignResult {
  std::uint64_t first = 0, tried = 0, suppressed = 0, inputs = 0, features = 0, edges = 0, all_edges = 0;
  bool is_interrupted = false;
  double seconds = 0;
  Tally tally;
  std::vector<Found> found;     // those that are new, by bucket or signature
  std::vector<Found> known;     // those of earlier sessions that still fail
  std::vector<Found> observed;  // gaps of quality, also those of earlier sessions
  Earlier earlier;
  std::string totals;  // of the database
  // Workers that ended while they tried nothing, by how (SIGSEGV, exit-3): no finding shows why. SIGKILL: most often, memory was
  // short.
  std::map<std::string, int> lost_workers;
};

// The findings for people, a paragraph each, and as a list of objects.
//   what   "finding", "observation"
[[nodiscard]] std::string text_of(const std::vector<Found>& found, std::string_view what);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<Found>& found);

}  // namespace regduel::fuzz
