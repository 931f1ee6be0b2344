// A worker of a campaign as it sees itself: a process that does one job after the other (messages.h).
#pragma once

#include <cstdint>
#include <span>

#include "fuzz/campaign/channel.h"
#include "fuzz/campaign/event_log.h"
#include "fuzz/campaign/worker_process.h"
#include "fuzz/explore/explorer.h"
#include "fuzz/triage/failure.h"
#include "ir/allocator.h"

namespace regduel::fuzz {

inline constexpr double kBatchSeconds = 0.2;

struct WorkerOptions {
  std::uint64_t seed = 1;
  int metamorphic = 0;  // percentage of the programs
  double timeout = 60;  // seconds of the processor for one program
  std::uint64_t reduce_budget = 0;
  std::span<const ir::Allocator* const> duelists;
  std::span<const int> registers;  // as of CampaignOptions
  bool with_results = false;       // rows for the database
  std::span<const Gap> gaps = {};  // as of CampaignOptions
};

// Works until the channel is closed.
//   explorer   knows what the coordinator knew when the process began
void work(Channel& channel, CurrentInput& current, const WorkerOptions& options, const EventLog& log, Explorer explorer);

}  // namespace regduel::fuzz
