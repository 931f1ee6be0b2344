// The database of a campaign: one SQLite file. What is in it is never more than a second behind what happened, even where the
// process is killed (SQLite's write-ahead log), and a campaign of the same seed goes on where the last one stopped.
//
//   meta(key, value)                                             format version
//   campaigns(seed, next_index)                                  programs [0, next_index) of this seed are done
//   rates(seed, time, duels, findings)                           one row a second: wall-clock seconds since 1970, counts so far
//   sessions(id, seed, first, next, program, started, seconds, allocations, summary)
//                                                                one row a run of the command: programs [first, next), by which version
//                                                                of regduel, how many allocations were judged, and the JSON summary of them
//   findings(seed, allocator, signature, message, count, replay, program)   replay: arguments of `regduel duel`
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/finding.h"
#include "cli/tally.h"

struct sqlite3;

namespace regduel::cli {

inline constexpr int kDatabaseVersion = 2;

class CampaignDb {
 public:
  // Opens or makes it. Throws BadInput where it is no database of ours, of a later version, or can't be written.
  CampaignDb(const std::string& path, std::uint64_t seed);
  ~CampaignDb();
  CampaignDb(const CampaignDb&) = delete;
  CampaignDb& operator=(const CampaignDb&) = delete;

  // The first program of this seed that no campaign has done yet.
  [[nodiscard]] std::uint64_t next_index() const { return next_index_; }
  // Remembers the findings of one bout.
  void add(const DuelCase& c, const fuzz::Bout& bout);
  // Says that the programs before `next_index` are done, `tally` of them in this session. Written at most once a second, and by flush().
  void done(std::uint64_t next_index, std::uint64_t findings, const Tally& tally);
  // "3 sessions of 2 seeds: 12345 programs, 23456 allocations judged, 0 distinct findings": of the whole database.
  [[nodiscard]] std::string totals();
  void flush(const Tally& tally);

 private:
  void execute(const char* sql);
  // Runs one statement with text or integer parameters, in the order of their question marks.
  template <class... Values>
  void execute(const char* sql, const Values&... values);

  std::string path_;
  sqlite3* db_ = nullptr;
  std::uint64_t seed_, next_index_ = 0, findings_ = 0;
  std::int64_t session_ = 0, started_ = 0, last_write_ = 0;
  bool dirty_ = false;
};

}  // namespace regduel::cli
