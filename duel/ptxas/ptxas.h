// ptxas, NVIDIA's assembler: it is run on a file, and what it says of registers and spill bytes is read.
//
// The lines that it prints are those of ptxas 13.0.88 with -v. Tested by ptxas_allocator_test.cpp, with a program that prints such lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regduel::duel {

// $PTXAS where it is set, else ptxas on the path or that of /usr/local/cuda; "" where there is none.
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
  std::string signal;                   // by which it ended: "SIGSEGV"; mostly empty
  double seconds = 0;                   // of the whole run
};
// What it says with -v, line by line.
[[nodiscard]] std::vector<PtxasFigures> figures_of_ptxas(std::string_view output);
struct PtxasOptions {
  int limit = 0;         // --maxrregcount; 0 = none
  int level = 3;         // of optimisation, 0 to 3
  bool is_whole = true;  // else the file may call functions that are not in it
  int seconds = 300;     // of the processor
};
//   target   of the file: sm_90a
[[nodiscard]] PtxasRun run_ptxas(const std::string& program, const std::string& file, const std::string& target,
                                 const PtxasOptions& options);

}  // namespace regduel::duel
