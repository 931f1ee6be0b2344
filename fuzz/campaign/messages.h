// The messages of a campaign. The coordinator gives each worker a job; the worker reports what it sees on the way, and ends the job with an
// answer.
//
//   job                  what the worker does                                              answer
//   TryMix, Explore      tries programs with the numbers of a range, for kBatchSeconds     Tried
//   TrySeed              tries one input as it is                                          Tried
//   Understand           reduces and bisects a failing case (fuzz/triage/triage.h)         Understanding
//   Locate               finds the allocator or judge that crashes or hangs on an input    Located
//   TryAgain             tries the case of an earlier session                              TriedAgain
//
// StoredInput and Failed are reports of single inputs. They are sent before the answer, as soon as the worker knows them, so that a worker that
// dies takes none with it.
//
// On the wire a message is the index of its type in the variant, then its fields in the order in which they stand here: numbers as they are in
// memory, since both ends are one program on one machine, and a count before the elements of a string, a list or a map. Tested by
// messages_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fuzz/campaign/schedule.h"
#include "fuzz/campaign/store.h"
#include "fuzz/campaign/tally.h"
#include "fuzz/triage/bucket.h"
#include "results/results.h"

namespace regduel::fuzz {

// -- jobs ---------------------------------------------------------------------------------------------------------------

// Programs of the standard mix.
struct TryMix {
  Schedule::Range programs;
};

// An input that another worker has found, and the features that it shows.
struct News {
  results::Blob input;
  std::vector<std::uint32_t> features;
};

// Children of the corpus.
struct Explore {
  Schedule::Range programs;
  std::vector<News> learn;  // before the first of them is made
};

struct TrySeed {
  Schedule::Range programs;  // one
  results::Blob input;
  bool is_pinned = false;  // stays in the corpus, whatever it shows
};

struct Understand {
  Failure failure;
  results::Blob input;
  std::string message;       // of the judge about this input
  std::uint64_t number = 0;  // of the task, in the order in which the queue took them: 0, 1, 2 ...
};

struct Locate {
  results::Blob input;
  std::uint64_t index = 0;  // the number of the program
  std::string signature;    // "harness/hang", "harness/crash-SIGSEGV"
  std::string message;      // of the finding
};

struct TryAgain {
  std::string bucket;
  Failure failure;
  results::Blob input;
};

using Job = std::variant<TryMix, Explore, TrySeed, Understand, Locate, TryAgain>;

// -- reports ------------------------------------------------------------------------------------------------------------

// A judge's finding about one allocator.
struct Objection {
  Failure failure;
  std::string message;
};

// A failing input.
struct Failed {
  results::Blob input;
  std::uint64_t index = 0;            // the number of the program
  std::vector<Objection> objections;  // those to one allocator stand together; each failure once
};

struct Tried {
  Schedule::Range programs;  // the first ones of the job, all of them unless its time was up
  Tally tally;
  std::vector<results::CaseResults> results;  // of every program of the mix; of those of an exploration that are kept or fail
};

// A case that has been understood.
struct Reduction {
  results::Blob input;
  Failure failure;       // which the reduced case shows
  std::string decision;  // the kind of the first bad one; "" = the failure comes before any
  Naming naming;
  std::string answer = {};  // of an external allocator: what it made of the input, as text
};

struct Understanding {
  Failure asked;
  std::optional<Reduction> reduction;  // nullopt = the case did not fail again
};

struct Located {
  Failed failed;          // no objections = none of the duelists crashed or hung again
  std::string signature;  // that was asked for
};

struct TriedAgain {
  std::string bucket;
  bool fails = false;
};

using Report = std::variant<StoredInput, Failed, Tried, Understanding, Located, TriedAgain>;

// -- the codec ----------------------------------------------------------------------------------------------------------

[[nodiscard]] results::Blob encode(const Job& job);
[[nodiscard]] results::Blob encode(const Report& report);
// The error says why the bytes are no message. Cost: O(bytes), also of memory, whatever they say.
[[nodiscard]] std::expected<Job, std::string> decode_job(std::span<const std::uint8_t> bytes);
[[nodiscard]] std::expected<Report, std::string> decode_report(std::span<const std::uint8_t> bytes);

}  // namespace regduel::fuzz
