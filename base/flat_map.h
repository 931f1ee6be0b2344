// A hash map from 64-bit keys to 32-bit values, open addressing, insertion only: the memo tables of the judges, where
// std::unordered_map would be most of the time. It is never iterated over, so it cannot disturb determinism.
// Tested by flat_map_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace regduel {

class FlatMap {
 public:
  static constexpr std::uint64_t kFree = ~0ull;
  static constexpr std::uint64_t kNeighbours = 16;  // as many consecutive keys stand side by side: they are asked for together

  explicit FlatMap(std::size_t capacity = 64) { slots_.resize(capacity); }

  // The value at `key`, which is `initial` where the key is new. The reference holds until the next call. key != kFree.
  std::uint32_t& at(std::uint64_t key, std::uint32_t initial) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[find(key)];
    if (slot.key == kFree) {
      slot = {key, initial};
      ++size_;
    }
    return slot.value;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t key = kFree;
    std::uint32_t value = 0;
  };
  [[nodiscard]] std::size_t find(std::uint64_t key) const {
    const std::size_t limit = slots_.size() - 1;
    std::size_t i = (mix64(key / kNeighbours) + key % kNeighbours) & limit;
    while (slots_[i].key != kFree && slots_[i].key != key) i = (i + 1) & limit;
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != kFree) slots_[find(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // power of two
  std::size_t size_ = 0;
};

}  // namespace regduel
