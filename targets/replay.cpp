// A fuzz target without an engine: runs it on each file that is named, once; "-" is standard input. For a build in which no engine
// is at hand, and for a debugger.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/io.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE...   runs the fuzz target on each file\n", argv[0]);
    return 2;
  }
  for (int k = 1; k < argc; ++k) {
    const auto bytes = regduel::read_file(argv[k]);
    if (!bytes) {
      std::fprintf(stderr, "error: %s\n", bytes.error().c_str());
      return 2;
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size());
    std::fprintf(stderr, "%s: nothing wrong\n", argv[k]);
  }
  return 0;
}
