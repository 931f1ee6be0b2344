// ptxas, NVIDIA's assembler, beside the duelists, with figures only: it plays whole PTX files and shows no allocation that a judge could look at.
//
// The lines that it prints are those of ptxas 13.0.88 with -v. Tested by ptxas_test.cpp, with a program that prints such lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regduel::cli {

// $PTXAS, ptxas on the path, or that of /usr/local/cuda; "" where there is none.
[[nodiscard]] std::string ptxas_program();

struct PtxasFigures {
  std::string function;
  int registers = -1;  // of a kernel; -1 of a device function, of which it does not say
  std::int64_t stack_bytes = 0, store_bytes = 0, load_bytes = 0;
  double milliseconds = -1;  // of a kernel, with the functions that it calls; -1 = it does not say
};
struct PtxasRun {
  std::vector<PtxasFigures> functions;  // in the order in which it tells of them
  std::string error;                    // why there are no figures; empty = there are
  double seconds = 0;                   // of the whole run
};
// What it says with -v, line by line.
[[nodiscard]] std::vector<PtxasFigures> figures_of_ptxas(std::string_view output);
// Runs it on a file for as long as 300 s of its own time.
//   target   of the file: sm_90a
//   limit    --maxrregcount; 0 = none
//   level    of optimisation, 0 to 3
[[nodiscard]] PtxasRun run_ptxas(const std::string& program, const std::string& file, const std::string& target, int limit,
                                 int level);

}  // namespace regduel::cli
