// The tables of campaigns in the database (results/schema.h). commit() is called twice a second, and the file has a write-ahead log, which
// goes into the file itself once a minute: a process that is killed loses at most the last second, a copy of the file alone the last
// minute. The next campaign of the same seed goes on behind what is kept; two at a time are refused (session_lock.h). A session of one
// is a row of `run`; the rows of
//
//   input      the corpus: inputs that show a feature that no smaller one shows, and pinned ones, which stay
//   sighting   what judges have objected to, as they said it, with the first input that showed it
//   finding    what of that is one bug: reduced, with the first bad decision (triage/triage.h), and its state
//
// belong to no run.
//
// A finding is *crashing* while its reduced case fails; *incubating* once it no longer does; *regression* when it has been so for
// kIncubation sessions by other versions: then its case belongs into corpus/regression/ (regduel export). One that fails again is
// crashing again.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/campaign/report.h"
#include "fuzz/campaign/session_lock.h"
#include "fuzz/campaign/tally.h"
#include "fuzz/triage/failure.h"
#include "fuzz/triage/triage.h"
#include "results/results.h"

namespace regduel::fuzz {

inline constexpr int kIncubation = 3;

struct StoredInput {
  std::string hash;  // of the bytes: content_hash()
  results::Blob input;
  std::vector<std::uint32_t> features;  // that it showed
  bool is_pinned = false;
  std::uint32_t instructions = 0;
  bool is_current = true;  // it was this version of the program that saw the features
};

struct Sighting {
  Failure failure;
  std::string message;
  std::uint64_t count = 0, reduced = 0;  // cases; of which were reduced
  results::Blob first;                   // the input
};

struct StoredFinding {
  std::string bucket;
  Failure failure;
  std::string decision, state;
  std::uint64_t count = 0;  // cases that were reduced to it
  std::uint32_t instructions = 0;
  results::Blob input;
};

// How far a session is.
struct Standing {
  std::uint64_t next_index = 0, inputs = 0, features = 0, edges = 0, findings = 0;
};

class Store {
 public:
  // Opens or makes it; "" = in memory. Throws BadInput where it is no database of ours, of another format, or can't be written.
  //   run   of it `program` is the version that writes: what it saw is current as long as it is the same one
  explicit Store(const std::string& path, results::RunInfo run = {"unknown", "", ""});

  // A session of the campaign that the seed names: the first program that none before has done. Throws BadInput where another process
  // runs one.
  [[nodiscard]] std::uint64_t begin_session(std::uint64_t seed, const std::string& mode);

  // What the sessions before have left; of the allocators named `present`, and of others. Requires begin_session().
  [[nodiscard]] Earlier earlier(const std::set<std::string>& present);

  // A case of the session.
  void add(const results::CaseResults& results);

  [[nodiscard]] std::vector<StoredInput> inputs();  // by size
  // Adds it, or its features to the one that is there.
  void add(const StoredInput& input);
  void remove_input(const std::string& hash);

  [[nodiscard]] std::vector<Sighting> sightings();  // by name
  // One more case that shows it. Returns how many there are now.
  std::uint64_t saw(const Failure& failure, const std::string& message, const results::Blob& input);
  void reduced(const Failure& sighting);
  void forget(const Failure& sighting);

  [[nodiscard]] std::vector<StoredFinding> findings();  // by bucket
  // What an external allocator made of the input (results/schema.h).
  void keep_answer(const results::Blob& input, const std::string& allocator, const std::string& program);
  [[nodiscard]] std::string answer_to(const results::Blob& input, const std::string& allocator);  // "" = not kept
  // One more reduced case; the smallest is kept. True where it is the first of its bucket.
  bool add(const Understood& understood);
  // Its case was tried again, by that version of the program. Returns its state now.
  std::string tried_again(const std::string& bucket, bool fails, const std::string& version);

  // Makes all that has been added since the last time permanent.
  void commit(const Standing& standing, const Tally& tally);
  // The same for what belongs to no session; all of it is in the one file then.
  void finish();

  // Of the whole database: "3 sessions over 2 seeds: 12345 programs, 23456 allocations judged, 0 findings, 17 inputs". Failures of
  // which no case has been reduced stand beside the findings: "0 findings and 1 not reduced yet".
  [[nodiscard]] std::string totals();

  // All that is in another one. Reading only of `other`. Databases of shards (other seeds) add up; of the same session the longer
  // one counts.
  void merge(const std::string& other);

 private:
  void begin();
  void require_run();

  results::Sqlite db_;
  results::RunInfo run_;
  std::int64_t run_id_ = 0;  // 0 until something is kept of the session
  std::optional<results::ResultTable> results_;
  std::optional<SessionLock> lock_;
  std::int64_t started_ = 0, last_sample_ = 0, last_checkpoint_ = 0;
  bool is_open_ = false;  // a transaction
};

}  // namespace regduel::fuzz
