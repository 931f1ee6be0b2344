// A campaign: workers that try inputs, and a coordinator that hands out what there is to do and keeps what comes of it. A worker
// that crashes or hangs is a finding, and another takes its place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/campaign/store.h"
#include "cli/tally.h"
#include "fuzz/triage/suppressions.h"

namespace regduel::cli {

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::uint64_t runs = 0;  // programs; 0 = until the time is up
  double seconds = 0;      // 0 = until the runs are done
  int jobs = 1;
  bool is_mix = false;  // programs of the standard mix rather than an exploration: the same for any number of jobs
  int metamorphic = 0;  // percentage of the programs
  double timeout = 60;  // seconds for one program: what takes longer hangs
  std::uint64_t reduce_budget = 4'000'000;  // as of fuzz::ReduceOptions
  std::span<const ir::Allocator* const> duelists;
  std::string db;           // "" = kept in memory
  std::string directory;    // of the reproducers
  std::vector<Blob> seeds;  // pinned
  std::vector<fuzz::Suppression> suppressions;
  std::string today;  // YYYY-MM-DD
  std::string log;    // a file; "" = none
};

// What was found, for the report. Either one bug (bucket), or what has not been reduced (yet).
struct Found {
  std::string bucket;
  fuzz::Failure failure;
  std::string message, decision, state, path;  // path: of the reproducer
  std::uint64_t count = 0;                     // cases that showed it; those that were reduced where it has a bucket
  std::uint32_t instructions = 0;
};

struct CampaignStatus {
  double seconds = 0;
  std::uint64_t tried = 0, end = 0;  // end: of the runs; 0 = unknown
  std::uint64_t allocations = 0, inputs = 0, features = 0, edges = 0, all_edges = 0, suppressed = 0, seeds_left = 0,
                to_understand = 0;
  int jobs = 0, understanding = 0, crashes = 0;
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

// Runs it. `watch` is called some times a second, and may say false: then it ends at once, and keeps what it has. Throws BadInput.
[[nodiscard]] CampaignResult run_campaign(const CampaignOptions& options, const std::function<bool(const CampaignStatus&)>& watch);

}  // namespace regduel::cli
