// Items grouped by a key in [0, number of keys): one array of items and one of where each key's begin, built by counting sort in
// two passes. Items of one key keep the order in which they came. Tested by grouped_test.cpp.
//
//   const Grouped<int> g(3, [](auto add) { add(2, 7), add(0, 8), add(2, 9); });      g[0] = {8}, g[1] = {}, g[2] = {7, 9}
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace regduel {

template <class T>
class Grouped {
 public:
  Grouped() = default;
  template <class Each>
  Grouped(std::size_t num_keys, Each&& each) {
    build(num_keys, each);
  }

  // each(add) calls add(key, item) for every item. build() calls `each` twice, and it must do the same both times.
  // The new groups use the memory of the old ones again.
  template <class Each>
  void build(std::size_t num_keys, Each&& each) {
    begin_.assign(num_keys + 2, 0);
    each([&](std::size_t key, const auto&) { ++begin_[key + 2]; });
    for (std::size_t k = 2; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
    items_.resize(begin_.back());
    // begin_[key + 1] runs from the first item of `key` to the first of the next one.
    each([&](std::size_t key, const auto& item) { items_[begin_[key + 1]++] = item; });
  }
  // The same from a list: key(x) and item(x) of each of its elements.
  template <class List, class Key, class Item>
  void build_from(std::size_t num_keys, const List& list, Key&& key, Item&& item) {
    build(num_keys, [&](auto add) {
      for (const auto& x : list) add(key(x), item(x));
    });
  }

  [[nodiscard]] std::span<const T> operator[](std::size_t key) const {
    return {items_.data() + begin_[key], items_.data() + begin_[key + 1]};
  }
  [[nodiscard]] std::span<T> operator[](std::size_t key) { return {items_.data() + begin_[key], items_.data() + begin_[key + 1]}; }
  // Where the items of `key` begin in items(); begin(num_keys()) is its size.
  [[nodiscard]] std::uint32_t begin(std::size_t key) const { return begin_[key]; }
  [[nodiscard]] std::span<const T> items() const { return items_; }
  [[nodiscard]] std::size_t num_keys() const { return begin_.empty() ? 0 : begin_.size() - 2; }

 private:
  std::vector<std::uint32_t> begin_;  // of key k: [begin_[k], begin_[k + 1])
  std::vector<T> items_;
};

}  // namespace regduel
