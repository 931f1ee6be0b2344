// The life of a finding in a campaign: what a judge said (a sighting), a case of it to be understood, one bug with one name.
//
//   see()               a worker reports a failing case: into the database at once, as nothing of it may be lost
//   take_before()       cases are counted in the order of their numbers; the 1st, 2nd, 4th ... of a failure is to be understood
//                       (understanding_queue.h). Until one is, that failure stands by itself, with the case as it is
//   take_understood()   its bucket takes it over: one bug, the smallest case of it. Which bucket depends on those that are known
//                       (triage.h)
//   take_again()        the case of an earlier session was tried again: does it still fail? (store.h has the states)
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/campaign/messages.h"
#include "fuzz/campaign/report.h"
#include "fuzz/campaign/store.h"
#include "fuzz/campaign/understanding_queue.h"
#include "fuzz/triage/suppressions.h"

namespace regduel::fuzz {

class CampaignFindings {
 public:
  //   version     of the program, for the states
  //   directory   of the reproducers; "" = none are written
  //   today       YYYY-MM-DD, for the suppressions
  CampaignFindings(Store& store, std::string version, std::string directory, std::vector<Suppression> suppressions,
                   std::string today)
      : store_(store), version_(std::move(version)), directory_(std::move(directory)), suppressions_(std::move(suppressions)),
        today_(std::move(today)) {}

  // Cases that earlier sessions have left to understand go to the queue. Returns the findings that have to be tried again. Of allocators
  // that are not `present` nothing is done.
  [[nodiscard]] std::vector<StoredFinding> load(const std::set<std::string>& present);

  void see(const Failed& failed);
  // A worker ended, or was ended, while it tried the input.
  void see_death(const Failure& failure, const std::string& message, const results::Blob& input);
  // The death is explained, and is no sighting by itself any more. Where nothing died again, `located` gets a failure that says so, except
  // after a hang: alone the program was fast enough.
  void forget_death(Located& located);
  // Counts the cases with numbers below `done`.
  void take_before(std::uint64_t done);

  // Answers wait until those to earlier tasks have come. The bucket of an answer depends on the buckets that are known (triage.h), and must not
  // depend on how long a worker takes.
  //   answer   nullopt where there will be none
  void take_understood(const Understand& task, std::optional<Understanding> answer);
  // At the end: takes those that still wait.
  void take_all_understood();
  void take_again(const TriedAgain& answer);

  [[nodiscard]] UnderstandingQueue& queue() { return queue_; }
  [[nodiscard]] const UnderstandingQueue& queue() const { return queue_; }
  // The findings that fail now, those that have been understood and those that have not been reduced yet.
  [[nodiscard]] std::vector<const Found*> failing() const;
  // The same as failing() at the end, with the number of cases of each finding that has not been reduced.
  [[nodiscard]] std::vector<Found> report() const;
  [[nodiscard]] std::uint64_t suppressed() const { return suppressed_; }  // cases

 private:
  [[nodiscard]] bool is_suppressed(const Failure& f) const { return fuzz::is_suppressed(suppressions_, f, today_); }
  // An answer, and the message of the task's case.
  struct Answer {
    std::optional<Understanding> understanding;
    std::string message;
  };

  void take(const Failed& failed);
  void take_next_answer();
  void take_answer(const Understanding& answer, const std::string& message);
  void take_reduction(const Reduction& reduction, const std::string& message);
  enum class Seen { Now, Earlier };
  void want_understood(const Failure& failure, const results::Blob& input, const std::string& message, Seen seen = Seen::Now);

  Store& store_;
  std::string version_, directory_;
  std::vector<Suppression> suppressions_;
  std::string today_;
  UnderstandingQueue queue_;
  // Seen, not counted yet: by number, and by the hash of the input, since a worker that takes over a number tries another input.
  std::map<std::pair<std::uint64_t, std::string>, Failed> seen_;
  std::map<std::uint64_t, Answer> answers_;  // by the number of the task
  std::uint64_t next_answer_ = 0;
  std::map<std::string, Found> by_bucket_;
  std::map<std::string, Found> not_reduced_;  // by name_of
  std::set<std::string> understood_;          // by name_of: one case was reduced
  std::uint64_t suppressed_ = 0;
};

}  // namespace regduel::fuzz
