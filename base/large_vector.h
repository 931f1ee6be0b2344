// A vector for large arrays of numbers, on huge pages where the system grants them on request (Linux, transparent huge pages
// "madvise" or "always"). On huge pages some MiB take a few page faults instead of thousands, and reads miss fewer address
// translations. Small vectors are in plain memory. Elements that resize() adds have no value yet: write before reading. Tested by
// large_vector_test.cpp.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace regduel {

template <class T>
class LargeAllocator {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>);

 public:
  using value_type = T;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  static constexpr std::size_t kLeastBytes = 2 * kHugePage;  // the smallest array that asks for huge pages

  LargeAllocator() = default;
  template <class U>
  explicit LargeAllocator(const LargeAllocator<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t n) {
    if (n * sizeof(T) < kLeastBytes) return std::allocator<T>().allocate(n);
    const std::size_t bytes = (n * sizeof(T) + kHugePage - 1) / kHugePage * kHugePage;
    void* const memory = std::aligned_alloc(kHugePage, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));  // where it fails, plain pages serve as well
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* p, std::size_t n) noexcept {
    if (n * sizeof(T) < kLeastBytes) std::allocator<T>().deallocate(p, n);
    else std::free(p);
  }
  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) noexcept {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace regduel
