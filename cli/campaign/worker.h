// A worker of a campaign: a process that tries inputs, one after the other. What it is asked, and what it answers (channel.h):
//
//   {do: mix, first, count}                       programs of the standard mix
//   {do: explore, first, count, learn: [{input, features}]}   children of the corpus; first, what other workers have found out
//   {do: try, input, pinned}                      a seed
//   {do: understand, input, allocator, signature} reduces and bisects (fuzz/triage/triage.h)
//   {do: locate, input, index, signature, message}   which allocator or judge crashes or hangs on it?
//   {do: again, bucket, input, allocator, signature}   does it still fail?
//
//   {entry: {input, features, instructions}}      to the corpus, as soon as it is known
//   {failed: {input, index, bouts: [{allocator, findings: [[signature, message]]}]}}   likewise
//   {done: ..., tried, tally | understood | bouts | fails}     the end of what was asked; a mix or exploration may end early, after
//   kBatchSeconds
//
// Before it tries an input it writes it where the coordinator can read it: so what crashes or hangs the process is known.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "cli/campaign/channel.h"
#include "fuzz/campaign/explorer.h"
#include "ir/allocator.h"

namespace regduel::cli {

inline constexpr double kBatchSeconds = 0.2;

// What a worker is doing, in memory that it shares with the coordinator.
struct Slot {
  static constexpr std::size_t kCapacity = std::size_t{4} << 20;
  std::atomic<std::int64_t> since;  // nanoseconds of the steady clock at which the input was begun; 0 = none is tried
  std::atomic<std::uint64_t> index;
  std::uint32_t size;  // of the input; 0 = too large to be kept
  std::uint8_t input[kCapacity];
};

struct WorkerOptions {
  std::uint64_t seed = 1;
  int metamorphic = 0;  // percentage of the programs
  std::uint64_t reduce_budget = 0;
  std::span<const ir::Allocator* const> duelists;
  int log = -1;  // a file: one JSON line an entry or failure, as soon as it is known
};

// Works until nobody asks any more. The explorer knows what the coordinator knew when the process began.
void work(Channel& channel, Slot& slot, const WorkerOptions& options, fuzz::Explorer explorer);

// An allocator with one finding, as in a message that says what failed.
[[nodiscard]] nlohmann::json bout_message(const std::string& allocator, const std::string& signature, const std::string& message);
// Adds a line to the log, with the time. file: -1 = no log
void log_event(int file, nlohmann::json line);
[[nodiscard]] std::int64_t steady_nanoseconds();

}  // namespace regduel::cli
