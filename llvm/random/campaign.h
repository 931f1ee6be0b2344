// Random programs before LLVM's allocators: batches of them in one process, judged, and what is found reduced.
//
// A finding is a judge's objection, an end of regduel-llc that is none (crash, hang, an objection of the machine verifier), or "ran out of
// registers", of which each program needs few enough (Machine::budget). Tested by campaign_test.cpp, where regduel-llc is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"
#include "llvm/compile/compile.h"
#include "llvm/judge/judge_pair.h"
#include "llvm/random/machine.h"

namespace regduel::llvm {

struct RandomOptions {
  const Machine* machine = nullptr;  // never null
  std::string allocator = "greedy";
  std::uint64_t seed = 1;
  int size = 70;                // instructions, approximately
  bool verify = true;           // the machine verifier looks at each program before and after each pass
  CompileOptions compile = {};  // stress, further arguments, time
};

struct RandomFinding {
  std::string kind;       // "wrong", "crash", "hang", "verifier", "out-of-registers", "failed"
  std::string signature;  // equal for equal causes, as far as LLVM's and the judges' own words tell
  std::string words;      // for people
  std::string command;    // of regduel-llc; its last word is the input
  std::uint64_t index = 0;
  std::string mir = {};
};

struct RandomBatch {
  int programs = 0, judged = 0, pass = 0, inconclusive = 0;
  Refusals refused;
  Counts counts;
  std::vector<RandomFinding> findings;  // at most one a program, by index
};

// Program number `index` of the stream that the seed names. Cost: O(size).
[[nodiscard]] ir::Function random_program(const RandomOptions& options, std::uint64_t index);
// Programs [first, first + count). Cost: one process for all of them, and more where one of them ends it.
[[nodiscard]] RandomBatch play(const Tools& tools, const RandomOptions& options, std::uint64_t first, int count);
// The smallest program that the reducer comes to and that still shows a finding of that kind and signature.
//   tries   programs that are compiled at most, a process each
[[nodiscard]] RandomFinding reduce(const Tools& tools, const RandomOptions& options, const RandomFinding& finding, int tries);

}  // namespace regduel::llvm
