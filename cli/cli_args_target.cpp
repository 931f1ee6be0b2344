// What an engine calls for the fuzz target cli_args (cli_args.h).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cli/cli_args.h"

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
