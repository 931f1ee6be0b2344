// A verdict as a row of the database of results (results/schema.h), so that `regduel report` and `regduel compare` read LLVM's allocators as ours.
//
// Tested by rows_test.cpp.
#pragma once

#include <string>

#include "llvm/judge/judge_pair.h"
#include "results/results.h"

namespace regduel::llvm {

// The program is known by its RIR before allocation, so that allocators that got the same program are compared on it.
//   Requires  a verdict that kept its RIR; of one that was refused the function and the run stand for it
//   source    the file; target: "x86_64-pc-linux-gnu znver3"; stress: registers of each class that were left, 0 = all
[[nodiscard]] results::CaseResults row_of(const Verdict& v, const std::string& source, const std::string& target, int stress);

}  // namespace regduel::llvm
