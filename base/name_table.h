// A hash map from names to 32-bit values, open addressing, insertion only. The texts of the names are not copied: they outlive the table.
// Nothing can iterate over it, so its order does not disturb determinism. An empty table has no memory.
//
// Tested by name_table_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace regduel {

class NameTable {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // The value at `name`, -1 where there is none. Values are 0 at least.
  [[nodiscard]] std::int32_t find(std::string_view name) const {
    if (size_ == 0) return -1;
    const Slot& slot = slots_[place_of(name, hash_of(name))];
    return slot.text == nullptr ? -1 : slot.value;
  }
  // False where the name is there already, whose value stays.
  bool insert(std::string_view name, std::int32_t value) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    const std::uint32_t hash = hash_of(name);
    Slot& slot = slots_[place_of(name, hash)];
    if (slot.text != nullptr) return false;
    slot = {name.data(), static_cast<std::uint32_t>(name.size()), hash, value};
    ++size_;
    return true;
  }

 private:
  struct Slot {
    const char* text = nullptr;  // null = free
    std::uint32_t length = 0;
    std::uint32_t hash = 0;
    std::int32_t value = 0;
  };

  // Eight bytes at a time, the last ones overlapping.
  static std::uint32_t hash_of(std::string_view name) {
    constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ull;
    std::uint64_t h = name.size() * kMultiplier;
    const auto mix = [&](std::uint64_t word) {
      h = (h ^ word) * kMultiplier;
      h ^= h >> 29;
    };
    const auto word_at = [&](std::size_t at, std::size_t bytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, name.data() + at, bytes);
      return word;
    };
    std::size_t at = 0;
    for (; at + 8 <= name.size(); at += 8) mix(word_at(at, 8));
    if (at < name.size()) {
      std::uint64_t word = 0;
      for (; at < name.size(); ++at) word = word << 8 | static_cast<unsigned char>(name[at]);
      mix(word);
    }
    return static_cast<std::uint32_t>(h >> 32);
  }
  [[nodiscard]] std::size_t place_of(std::string_view name, std::uint32_t hash) const {
    const std::size_t limit = slots_.size() - 1;
    std::size_t i = hash & limit;
    while (slots_[i].text != nullptr && (slots_[i].hash != hash || std::string_view(slots_[i].text, slots_[i].length) != name))
      i = (i + 1) & limit;
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.text == nullptr) continue;
      std::size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].text != nullptr) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace regduel
