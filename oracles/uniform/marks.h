// Values that the program before puts into uniform names, with the blocks where that makes them the same in all threads. Tested by
// marks_test.cpp, and with programs by shared_values_test.cpp.
//
//   marked(v, b)   v was marked everywhere, or at some blocks: then each path to the end of b goes through one of these, or each path
//                  from b on does before v is made anew. At a branch that all threads take the same way, one of its ways is enough:
//                  what another way reads is not told apart
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oracles/symbolic/plan.h"

namespace regduel::oracles::uniform {

class Marks {
 public:
  explicit Marks(const symbolic::Plan& plan) : plan_(plan) {}

  void add(Value v);
  // Where the block is surely executed: a local mark.
  void add_at(Value v, std::uint32_t block) { at_blocks_.emplace_back(v, block); }
  [[nodiscard]] bool is_everywhere(Value v) const { return v < of_.size() && of_[v] == kEverywhere; }
  // Drops the local marks of values for which `is_needless` holds. Until show_local() or settle(), has() answers as if there were none.
  void drop_local(const auto& is_needless) {
    std::erase_if(at_blocks_, [&](const auto& at) { return is_everywhere(at.first) || is_needless(at.first); });
    list_local();
  }
  [[nodiscard]] bool has_local() const { return !at_blocks_.empty(); }
  void show_local() { shown_ = Shown::Everywhere; }
  // Finds the blocks where local marks hold. Requires: drop_local(). Cost: rounds x edges x local marks / 64.
  //   varies      by block: its branch goes by a condition that may differ between threads
  //   blocks_of   of a value: the blocks in which a part of it is made
  void settle(std::span<const char> varies, const auto& blocks_of) {
    if (at_blocks_.empty()) return;
    Sets made(plan_.blocks.size(), num_words());
    for (std::size_t k = 0; k < local_.size(); ++k)
      for (const std::uint32_t b : blocks_of(local_[k])) made.add(b, k);
    solve(varies, made);
  }

  // Where has() looks, once they are settled. True if it answers otherwise from now on.
  bool move_to(std::uint32_t block);
  [[nodiscard]] bool has(Value v) const;

 private:
  // Of local marks, by block.
  class Sets {
   public:
    Sets(std::size_t num_blocks, std::size_t num_words) : num_words_(num_words), words_(num_blocks * num_words, 0) {}
    [[nodiscard]] std::span<std::uint64_t> operator[](std::size_t block) {
      return std::span(words_).subspan(block * num_words_, num_words_);
    }
    [[nodiscard]] bool has(std::size_t block, std::size_t k) const {
      return (words_[block * num_words_ + k / 64] >> k % 64 & 1) != 0;
    }
    void add(std::size_t block, std::size_t k) { words_[block * num_words_ + k / 64] |= std::uint64_t{1} << k % 64; }
    void fill() { words_.assign(words_.size(), ~std::uint64_t{0}); }

   private:
    std::size_t num_words_;
    std::vector<std::uint64_t> words_;
  };
  static constexpr std::uint32_t kUnmarked = 0, kEverywhere = 1, kLocal = 2;  // and from there on, the position in local_

  [[nodiscard]] std::size_t num_words() const { return (local_.size() + 63) / 64; }
  void list_local();
  void solve(std::span<const char> varies, Sets& made);

  const symbolic::Plan& plan_;
  std::vector<std::uint32_t> of_;                           // by value
  std::vector<std::pair<Value, std::uint32_t>> at_blocks_;  // as they were added
  std::vector<Value> local_;
  Sets held_{0, 0};
  std::uint32_t here_ = 0;  // the block where has() looks
  enum class Shown : std::uint8_t { Nowhere, Everywhere, AtBlocks };
  Shown shown_ = Shown::Nowhere;  // of the local marks
};

}  // namespace regduel::oracles::uniform
