// What an engine calls for the fuzz target cli_args (cli_args.h).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cli/bench/bench.h"
#include "cli/cli_args.h"

// In place of bench.cpp, which is never run here: without it the target does not need Google Benchmark, which many systems have as
// a shared library only.
namespace regduel::cli {
BenchResult run_bench(const BenchOptions&) { return {}; }
std::vector<std::string> gate_failures(const BenchResult&, const BenchOptions&) { return {}; }
}  // namespace regduel::cli

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Help would be most of what the engine prints.
  static_cast<void>(std::freopen("/dev/null", "w", stdout));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto wrong = regduel::cli::try_cli_args({data, size})) {
    std::fprintf(stderr, "FINDING cli_args: %s\n", wrong->c_str());
    std::fflush(stderr);
    std::abort();
  }
  return 0;
}
