#include "cli/command.h"

#if defined(__GLIBC__)
#include <malloc.h>

#include <climits>
#endif

namespace {

// Freed memory stays with the process for the next function or program: to give blocks of some MiB back to the kernel, and to take
// them again page by page, is a third of the time that an allocator takes for 20,000 instructions (docs/measurements/performance.md).
void keep_freed_memory() {
#if defined(__GLIBC__)
  ::mallopt(M_MMAP_THRESHOLD, INT_MAX);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  return regduel::cli::run(argc, argv);
}
