// Faults that no damaged allocation of one function shows, each against the judge that looks for it: pairs of a pass, in which the
// program after has lost a constraint of the program before ("constraints"); files of several functions, in which a callee destroys
// what its caller keeps ("calls"); and choices between values that a warp shares ("uniform"), which few programs make.
//
// A run takes one program, or one allocation, and one kind of fault. It makes a pair or file that is right and one that is damaged. The
// judge must pass the first, and reject the second by the category of the kind. Which is which follows from how the two are made, not
// from the judge. Tested by pairs_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "oracles/judge.h"
#include "trial/faults/drawn_subject.h"

namespace regduel::trial {

// What the judge said of the right one and of the damaged one.
struct PairVerdicts {
  oracles::JudgeResult right, damaged;
  ir::Function before, after;  // the damaged one; of a file, the caller
  std::string rest;            // of a file: the other functions, as text
};

struct PairFault {
  std::string_view name;      // "pass-drops-tie"
  std::string_view what;      // one line
  std::string_view category;  // of the finding that there must be
  // Nothing where the subject has no place for it.
  std::optional<PairVerdicts> (*make)(const DrawnSubject& subject, Random& random);
};
// All of them, in the order of the table. Names are unique.
[[nodiscard]] std::span<const PairFault> pair_faults();
[[nodiscard]] std::span<const PairFault> pass_faults();     // pass_pairs.cpp
[[nodiscard]] std::span<const PairFault> file_faults();     // file_pairs.cpp
[[nodiscard]] std::span<const PairFault> uniform_faults();  // uniform_pairs.cpp

struct PairRun {
  std::size_t kind = 0;           // among pair_faults()
  bool is_subject = false;        // false: there is no place for the fault, or no allocation
  bool accepted = false;          // the right one
  bool rejected = false;          // the damaged one, by its category
  std::optional<FaultMiss> miss;  // "pair-accepted", "pair-rejected", or "internal-error"
};
[[nodiscard]] PairRun run_pair_on(std::uint64_t seed, std::uint64_t index);  // the kind is index % pair_faults().size()

struct PairRow {
  std::int64_t made = 0, rejected = 0, accepted = 0;
};
class PairTable {
 public:
  PairTable() : rows_(pair_faults().size()) {}
  void add(PairRun run);
  [[nodiscard]] const std::vector<PairRow>& rows() const { return rows_; }  // in the order of pair_faults()
  [[nodiscard]] const std::vector<FaultMiss>& misses() const { return misses_; }

 private:
  std::vector<PairRow> rows_;
  std::vector<FaultMiss> misses_;
};

}  // namespace regduel::trial
