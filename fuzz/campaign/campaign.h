// A campaign: worker processes that try inputs, and a coordinator that hands out what there is to do and keeps what comes of it. A
// worker that crashes or hangs is a finding, and another takes its place.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/campaign/report.h"
#include "fuzz/triage/failure.h"
#include "fuzz/triage/suppressions.h"
#include "ir/allocator.h"
#include "results/schema.h"

namespace regduel::fuzz {

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::uint64_t runs = 0;  // programs; 0 = until the time is up
  double seconds = 0;      // 0 = until the runs are done
  double grace = 8;        // seconds for what is being tried and reduced then; what is not reduced is kept, and is when it goes on
  int stop_after = 0;      // findings that fail, after which no more programs are tried; 0 = never
  int jobs = 1;
  bool is_mix = false;         // programs of the standard mix rather than an exploration: the same for any number of jobs
  int metamorphic = 0;         // percentage of the programs
  std::vector<int> registers;  // limits of file R at each of which each program is tried; empty = as the program's input says
  double timeout = 60;         // seconds of the processor for one program: what takes longer, also alone, hangs
  std::uint64_t reduce_budget = 4'000'000;  // as of ReduceOptions
  std::span<const ir::Allocator* const> duelists;
  std::string db;                    // "" = kept in memory
  std::string directory;             // of the reproducers
  std::vector<results::Blob> seeds;  // pinned
  std::vector<Suppression> suppressions;
  std::vector<Gap> gaps;                       // differences of quality to look for, of the duelists
  bool is_gap_finding = false;                 // else they are observations
  std::string today;                           // YYYY-MM-DD
  results::RunInfo run = {"unknown", "", ""};  // what another version of the program saw is looked at again
  std::string log;                             // a file; "" = none
};

// Runs it. `watch` is called some times a second, and may say false: then it ends at once, and keeps what it has. Throws BadInput.
[[nodiscard]] CampaignResult run_campaign(const CampaignOptions& options, const std::function<bool(const CampaignStatus&)>& watch);

}  // namespace regduel::fuzz
