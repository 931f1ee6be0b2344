// A worker of a campaign: a process that tries inputs, one after the other. What it is asked, and what it answers (channel.h):
//
//   {do: mix, first, count}                       programs of the standard mix
//   {do: explore, first, count, learn: [{input, features}]}   children of the corpus; first, what other workers have found out
//   {do: try, first, count, input, pinned}        a seed
//   {do: understand, input, allocator, signature} reduces and bisects (fuzz/triage/triage.h)
//   {do: locate, input, index, signature, message}   which allocator or judge crashes or hangs on it?
//   {do: again, bucket, input, allocator, signature}   does it still fail?
//
//   {entry: {input, features, pinned, instructions}}   to the corpus, as soon as it is known
//   {failed: {input, index, bouts: [{allocator, findings: [[signature, message]]}]}}   likewise
//   {done: ..., tried, tally, results | understood | bouts | fails}   the end of what was asked; a mix or exploration may end
//   early,
//                                                              after kBatchSeconds. results (results_message.h): of each program of
//                                                              the mix, of those of an exploration that are kept or fail
#pragma once

#include <cstdint>
#include <span>

#include "fuzz/campaign/channel.h"
#include "fuzz/campaign/event_log.h"
#include "fuzz/campaign/worker_process.h"
#include "fuzz/explore/explorer.h"
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
};

// Works until the channel is closed.
//   explorer   knows what the coordinator knew when the process began
void work(Channel& channel, CurrentInput& current, const WorkerOptions& options, const EventLog& log, Explorer explorer);

}  // namespace regduel::fuzz
