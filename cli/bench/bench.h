// Measures the judges and the allocators: CPU time an instruction at several sizes, its growth, memory, whole duels a second.
// The timing loop is Google Benchmark's; what is measured and how the figures are made is here. The goals: judges near-linear,
// memcheck no slower than the allocator. Tested by cli_test.cpp, which asserts that every figure is there, never how large.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/layers.h"

namespace regduel::cli {

struct BenchOptions {
  std::vector<int> sizes = {200, 2000, 20000};  // instructions of a program, approximately; ascending
  int per_profile = 20000;  // instructions of each profile and size: as many programs as that takes, at least one
  int duels = 200;          // cases of the standard mix for the figure of whole duels; ten times as many bred ones
  std::uint64_t seed = 1;   // of all programs
  int repetitions = 3;
  double min_time = 0;  // seconds of CPU time of one repetition; 0 = each program once
  int tries_again = 0;  // how often what the gate refuses is measured anew; the least of all measurements counts
  std::string filter;   // a regular expression on "memcheck/2000", "fatpoint/200", "duels", "duels/bred", "layers"; empty = all
};

// The programs of one size, the same for every judge and allocator.
struct BenchCorpus {
  int size = 0;
  std::int64_t programs = 0;
  std::int64_t instructions = 0;            // of all programs together, before allocation
  std::int64_t spilling = 0;                // allocations that move at least one byte, of `allocations`
  std::int64_t allocations = 0;             // every allocator, every program
  std::int64_t allocated_instructions = 0;  // of all allocations together
  std::int64_t max_live = 0;                // MaxLive in file R: mean over the programs, rounded down
  std::int64_t limit = 0;                   // of file R, likewise

  // Instructions that a judge reads for each one of the program before: that one, and what became of it. Spill code grows with the
  // program.
  [[nodiscard]] double read_per_instruction() const {
    return 1 + static_cast<double>(allocated_instructions) * static_cast<double>(programs) /
                   (static_cast<double>(instructions) * static_cast<double>(allocations));
  }
};

struct BenchCell {
  double ns = 0;         // CPU time an instruction of the program before, in nanoseconds: least of the repetitions
  double median_ns = 0;  // their median
};

struct BenchRow {
  std::string name;
  bool is_judge = false;
  std::vector<std::optional<BenchCell>> cells;        // one a size; none where the filter left it out
  std::vector<std::optional<double>> times_fatpoint;  // one a size: time as a multiple of the fat-point allocator's
  std::optional<double> growth;                       // ns at the last size by ns at the first
  std::optional<double> growth_read;                  // of a judge: the same an instruction that it reads
  std::optional<double> peak_bytes;  // memory above what was there before, an instruction, for the largest program; Linux only
};

struct BenchResult {
  std::vector<BenchCorpus> corpora;        // one a size; none where the filter leaves no row
  std::vector<BenchRow> rows;              // those that the filter leaves: allocators, judges in their order, all judges together
  std::optional<double> duels_per_second;  // of CPU time: case made, every allocator run, every judge asked
  struct Bred {
    std::int64_t inputs = 0, instructions = 0;  // of all inputs together
    double duels_per_second = 0;                // likewise, without the making
  };
  std::optional<Bred> bred;      // inputs that a campaign breeds
  std::optional<Layers> layers;  // of the duels of a campaign
};

inline constexpr std::string_view kAllJudges = "all judges";

// Requires: at least one size; all numbers positive (min_time >= 0); the filter compiles. Cost: minutes with the defaults.
[[nodiscard]] BenchResult run_bench(const BenchOptions& options);

// What `--gate` refuses: a judge that takes more than twice as long an instruction that it reads, memcheck slower than the
// fat-point allocator.
struct GateFailure {
  std::string name;     // of the row
  std::string message;  // one line
};
[[nodiscard]] std::vector<GateFailure> gate_failures(const BenchResult& result, const BenchOptions& options);

}  // namespace regduel::cli
