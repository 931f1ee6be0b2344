// The detection matrix: fault operators on correct allocations of the standard mix, and what each judge says of the damage.
//
//   changing    The execution judge objects, which is the ground truth of what a fault does. A static judge (one that does not run
//               the programs: all but execution and quality) must object to each changing fault, too.
//   category    Where the code that memcheck has to raise follows from the program (origins.h), it must be among memcheck's
//               findings whenever the trace changes. Where an operator names categories of structure, one must always be raised.
//
// Before anything is damaged, the allocation is judged as it is: an objection is a false alarm. Most subjects are first rewritten
// by patterns (patterns.h), so that the judges see packs, remats and shared slots, and the operators find them.
//
// A run takes one program, and injects into it a few of the operators that were injected least so far. The counts of injections are
// an argument (`injected`), which the caller renews after each batch of fault_batch() runs, so that the result depends on the seed
// and the number of runs alone. The fault of an operator in a run depends on the seed and the number of the run alone, so that a
// miss can be repeated without the runs before it. Tested by faults_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/judges.h"
#include "trial/faults/drawn_subject.h"
#include "trial/faults/operators.h"

namespace regduel::trial {

// Runs of the batch that begins after `done` runs. The shares of the operators settle in small batches at first; later batches are
// large, because threads wait for each other at the end of each.
constexpr std::int64_t fault_batch(std::int64_t done) { return std::max<std::int64_t>(64, done / 8); }
struct Injection {
  std::size_t op = 0;                      // index among fault_operators()
  std::uint64_t fingerprint = 0;           // of the damaged program: equal for equal ones
  std::vector<oracles::Verdict> verdicts;  // in the order of fault_judges()
  int code = 0;                            // of memcheck, that the program has to show; 0: nothing is asked
  bool memcheck_right = false;             // the code is there
  bool structure_right = false;            // one of the operator's categories is there
  [[nodiscard]] bool is_changing() const;  // the execution judge objects
  [[nodiscard]] bool is_caught() const;    // a static one does

 private:
  [[nodiscard]] bool objects(bool statically) const;
};

// The result of one program.
struct FaultRun {
  bool is_subject = false;  // false: impossible at its limit, and nothing else is set
  std::string allocator;
  std::vector<std::string_view> patterns;  // that were applied
  std::vector<oracles::Verdict> plain;     // of the correct allocation, in the order of fault_judges()
  std::vector<Injection> injections;
  std::vector<FaultMiss> misses;
};

// The judges of the matrix: all of oracles::judges() but quality. is_static: all but execution.
[[nodiscard]] const std::vector<const oracles::Judge*>& fault_judges();
[[nodiscard]] bool is_static(const oracles::Judge& judge);

// `injected`: how often each operator was injected so far; empty: every one that finds a place is injected, in the order of
// fault_operators(). `largest`: the most instructions of a subject, after allocation. The same arguments, the same result. Throws
// nothing but InternalError.
[[nodiscard]] FaultRun run_faults_on(std::uint64_t seed, std::uint64_t index, const std::vector<std::int64_t>& injected,
                                     std::size_t largest = kLargestSubject);

struct OperatorRow {
  std::int64_t injected = 0;
  std::int64_t changing = 0;                  // execution: fail
  std::int64_t undecided = 0;                 // execution: inconclusive or skipped
  std::vector<std::int64_t> caught;           // by each judge, of all injected
  std::vector<std::int64_t> caught_changing;  // by each judge, of those that change the trace
  std::int64_t caught_static = 0;             // by any static judge, of those that change the trace
  std::int64_t memcheck_asked = 0, memcheck_right = 0;
  std::int64_t structure_asked = 0, structure_right = 0;
};

class FaultMatrix {
 public:
  FaultMatrix();
  void add(FaultRun run);

  [[nodiscard]] const std::vector<OperatorRow>& rows() const { return rows_; }  // in the order of fault_operators()
  [[nodiscard]] std::vector<std::int64_t> injected() const;
  [[nodiscard]] OperatorRow total() const;
  [[nodiscard]] const std::vector<FaultMiss>& misses() const { return misses_; }  // at most 200 are kept, all are counted
  [[nodiscard]] std::int64_t num_misses() const { return num_misses_; }
  [[nodiscard]] std::int64_t runs() const { return runs_; }
  [[nodiscard]] std::int64_t subjects() const { return subjects_; }
  [[nodiscard]] std::int64_t patterned() const { return patterned_; }
  [[nodiscard]] std::int64_t false_alarms() const { return false_alarms_; }
  [[nodiscard]] std::int64_t plain_inconclusive() const { return plain_inconclusive_; }
  // By code of memcheck, how often it was asked for.
  [[nodiscard]] const std::array<std::int64_t, 11>& asked_by_code() const { return asked_by_code_; }
  // The name of each pattern and how often it was applied.
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::int64_t>>& patterns_used() const { return patterns_used_; }

 private:
  std::vector<OperatorRow> rows_;
  std::vector<FaultMiss> misses_;
  std::vector<std::pair<std::string_view, std::int64_t>> patterns_used_;
  std::array<std::int64_t, 11> asked_by_code_ = {};
  std::int64_t num_misses_ = 0, runs_ = 0, subjects_ = 0, patterned_ = 0, false_alarms_ = 0, plain_inconclusive_ = 0;
};

struct FaultOptions {
  std::int64_t runs = 1000;
  std::uint64_t seed = 1;
  std::size_t largest = kLargestSubject;
};
// The whole matrix on one thread, batch by batch.
[[nodiscard]] FaultMatrix run_faults(const FaultOptions& options);

// The verdicts and findings of a report on few lines.
[[nodiscard]] std::string summary(const oracles::Report& report);

}  // namespace regduel::trial
