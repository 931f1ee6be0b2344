// How much of the heap a thread holds, and has held at most: for the memory that an allocation takes. Counted where the program
// replaces operator new (cli/count_heap.cpp), while somebody asks; elsewhere nothing is known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace regduel::duel {

struct HeapUse {
  std::int64_t now = 0, most = 0;  // bytes, as malloc hands them out; what another thread frees stays counted here
  int watchers = 0;                // HeapPeaks of this thread: nothing is counted where there are none

  void add(std::int64_t bytes) {
    now += bytes;
    most = std::max(most, now);
  }
};
inline constinit thread_local HeapUse heap_use;
inline constinit bool heap_is_counted = false;

// The most that this thread holds from here on, above what it held here.
class HeapPeak {
 public:
  HeapPeak() : before_(heap_use) {
    heap_use.most = heap_use.now;
    ++heap_use.watchers;
  }
  HeapPeak(const HeapPeak&) = delete;
  HeapPeak& operator=(const HeapPeak&) = delete;
  ~HeapPeak() {
    heap_use.most = std::max(heap_use.most, before_.most);
    --heap_use.watchers;
  }
  // nullopt where nothing is counted.
  [[nodiscard]] std::optional<std::int64_t> bytes() const {
    return heap_is_counted ? std::optional(heap_use.most - before_.now) : std::nullopt;
  }

 private:
  HeapUse before_;
};

}  // namespace regduel::duel
