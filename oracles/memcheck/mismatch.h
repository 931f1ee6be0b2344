// The findings of memcheck: operands whose reaching definitions differ, with the category of source 000 and the producers.
// Tested by memcheck_test.cpp and explain_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace regduel::oracles {

enum class MemcheckCode {
  None = 0,  // a mismatch on old code
  SpillRefillMismatch = 1,
  RefillReadsUninitialized = 2,
  P2rR2pPatternFailure = 3,
  BitSpillRefillFailure = 4,
  UninitializedValueIntroduced = 5,
  ExtraDefsIntroduced = 6,
  RematerializationMismatch = 7,
  P2rR2pBaseDestroyed = 8,
  BitSpillBaseDestroyed = 9,
  DefinitionsDisappeared = 10,
};
[[nodiscard]] std::string_view slug(MemcheckCode code);  // "memcheck-1-spill-refill-mismatch"
[[nodiscard]] std::string_view text(MemcheckCode code);  // the message of source 000; of code 7 the part without numbers

// The nearest instruction that gives an operand its value: a copy, a refill, a p2r is a producer of its own.
struct Producer {
  ir::InstId inst;   // invalid = what the place held at entry
  int operand = -1;  // the def operand; -1 = the entry, or a destroyed register
  bool is_destroyer = false;
  bool explained = true;  // in Additions and Removals: BENIGN

  friend bool operator==(const Producer& a, const Producer& b) {
    return a.inst == b.inst && a.operand == b.operand && a.is_destroyer == b.is_destroyer;
  }
};

struct OperandMismatch {
  ir::InstId inst;
  int operand = -1;   // operand number; -1 = the callee-saved register `saved` at a ret
  std::string saved;  // its name; empty where it is an operand
  MemcheckCode code = MemcheckCode::None;
  ir::InstId other;         // the offending definition, refill or remat
  ir::InstId remat_of;      // code 7: the old instruction; `other` is the new one
  bool mixed_size = false;  // code 6: a value of 8 or 16 bits takes part
  std::vector<Producer> before, after, additions, removals;
};

// The scope of a comparison. The findings of the judge need neither mismatches on old code nor producers.
enum class MemcheckScope : std::uint8_t { Everything, Errors };

struct MemcheckDetails {
  std::string skipped;                           // why the programs could not be compared; empty = they were
  std::int64_t walked = 0;                       // the cost beyond sets: states of walks under several assumptions at once
  std::string inconclusive = {};                 // the place where guards were too entangled to decide; empty = none
  std::vector<OperandMismatch> mismatches = {};  // in program order
  int total_mismatch = 0;                        // instructions with at least one mismatch
  int mismatch_on_old = 0;  // of these: all their mismatches are of operands without a definition before allocation
};

}  // namespace regduel::oracles
