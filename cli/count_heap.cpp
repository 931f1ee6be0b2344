// The program's operator new and delete, which count the bytes that each thread holds (duel/heap_use.h). All other forms of
// them end in these, but for types of more than usual alignment, of which there are few and which are not counted.
// Not with AddressSanitizer, which has its own.

#include "duel/heap_use.h"

#if defined(__SANITIZE_ADDRESS__)
#define REGDUEL_COUNTS_HEAP 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REGDUEL_COUNTS_HEAP 0
#endif
#endif
#ifndef REGDUEL_COUNTS_HEAP
#define REGDUEL_COUNTS_HEAP 1
#endif

#if REGDUEL_COUNTS_HEAP
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

using regduel::duel::heap_use;

[[maybe_unused]] const bool is_counted = regduel::duel::heap_is_counted = true;

}  // namespace

void* operator new(std::size_t size) {
  for (;;) {
    if (void* const p = std::malloc(size == 0 ? 1 : size)) {
      if (heap_use.watchers != 0) heap_use.add(static_cast<std::int64_t>(malloc_usable_size(p)));
      return p;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* p) noexcept {
  if (p == nullptr) return;
  if (heap_use.watchers != 0) heap_use.add(-static_cast<std::int64_t>(malloc_usable_size(p)));
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
#endif
