// A pair of dumps before all judges, and what they say in the words of MIR.
//
// llvm/ maps, oracles/ judge: this is the one place where the two meet. Tested by judge_pair_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llvm/mapping/map_pair.h"
#include "oracles/judges.h"

namespace regduel::llvm {

// What one judge holds against an allocation.
struct MirFinding {
  std::string judge = {}, category = {};
  int block = -1;                       // number of the machine basic block; -1 = the function as a whole
  std::string before = {}, after = {};  // the instruction, as LLVM prints it; "" where it is not in that program
  std::string message = {};             // registers by LLVM's names
  std::string other = {};               // the second place, "" = none
};

struct Verdict {
  std::string function = {}, allocator = {}, pass = {};
  int run = 0;
  std::optional<Refusal> refusal = {};  // then nothing was judged
  oracles::Verdict verdict = oracles::Verdict::Skipped;
  std::string reason = {};  // for inconclusive
  std::vector<MirFinding> findings = {};
  Counts counts = {};
  double seconds = 0;                                             // mapping and judging
  std::string before_rir = {}, after_rir = {}, target_json = {};  // where they were asked for, or a judge objects
};

// Cost: that of the mapping and of all judges.
[[nodiscard]] Verdict judge_pair(const Tables& tables, const DumpPair& pair, bool keep_rir = false);

// A finding as a person reads it, several lines.
[[nodiscard]] std::string print(const MirFinding& f);

}  // namespace regduel::llvm
