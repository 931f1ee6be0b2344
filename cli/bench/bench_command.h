// The program `regduel-bench`: how long the judges and the allocators take. A program of its own, as nobody but maintainers needs Google
// Benchmark. Tested by bench_command_test.cpp.
#pragma once

#include "cli/command.h"

namespace regduel::cli {

[[nodiscard]] Action declare_bench(Arguments& a);

inline constexpr Command kBenchCommand = {
    "bench", "Measure how long judges and allocators take, and how that grows with the program", declare_bench};

}  // namespace regduel::cli
