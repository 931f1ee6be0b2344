// Room for lists that live as long as their function: values of statements. One chunk after the other, none moves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace regduel::ir::ptx {

template <class T>
class Arena {
 public:
  // A copy of the list. Cost: O(its length).
  std::span<const T> keep(std::span<const T> list) {
    if (list.empty()) return {};
    if (list.size() > left_) {
      const std::size_t size = std::max(list.size(), kChunk);
      chunks_.push_back(std::make_unique<T[]>(size));
      free_ = chunks_.back().get();
      left_ = size;
    }
    T* const begin = free_;
    std::copy(list.begin(), list.end(), begin);
    free_ += list.size();
    left_ -= list.size();
    return {begin, list.size()};
  }

 private:
  static constexpr std::size_t kChunk = 1024;

  std::vector<std::unique_ptr<T[]>> chunks_;
  T* free_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace regduel::ir::ptx
