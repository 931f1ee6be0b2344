// Which values are the same in all threads of a warp; the formula is in uniform.h. Tested by uniform_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "oracles/judge.h"
#include "oracles/symbolic/fixed_point.h"

namespace regduel::oracles::uniform {

class SharedValues {
 public:
  // The values that declared names hold. Walks over all blocks. Requires: `analysis` is settled, and the arguments outlive this.
  SharedValues(const Case& c, symbolic::Plan& plan, symbolic::FixedPoint& analysis, const std::vector<char>& declared);

  // Of a byte, a predicate, or a bit of a pack.
  [[nodiscard]] bool is_shared(Value v);
  // Adds those that other names hold at heads of blocks: the last equation, which is rarely asked for. Walks over all blocks.
  void add_heads();

 private:
  class Marker;
  class Edges;

  void mark(Value v, bool is_word);
  void mark_piece(Value v);
  [[nodiscard]] bool is_shared_leaf(Value v) const;
  [[nodiscard]] bool decide(Value v);
  // The numbers that the join of a block gave, in a value.
  [[nodiscard]] std::vector<Value> numbers_of_block(Value v, std::uint32_t block) const;
  static constexpr std::size_t kMostParts = 64;  // of a value, that are looked at
  // A name at the head of a block, for which the block gave numbers.
  struct Head {
    Value value = kTop;  // there
    bool is_word = false, meets = false;
    std::size_t begin = 0, end = 0;  // of what comes in on the edges
    std::vector<Value> numbers;      // of this block, in the value
  };
  [[nodiscard]] std::vector<Head> heads_of(const Edges& edges) const;
  [[nodiscard]] std::vector<Value> sole_values(const std::vector<Head>& heads, const Edges& edges);
  [[nodiscard]] std::array<Value, 4> bytes_of(Value v, bool is_word) { return is_word ? values_.bytes(v) : std::array{v, v, v, v}; }

  const Case& case_;
  symbolic::Plan& plan_;
  symbolic::FixedPoint& analysis_;
  Values& values_;
  std::vector<char> is_declared_;       // by name
  std::vector<char> is_marked_;         // by value: a declared name holds it
  std::vector<std::uint32_t> assumed_;  // by value: how many names hold it at heads of blocks and may be shared
  enum : char { kUnknown, kNo, kYes };
  std::vector<char> answers_;  // by value
};

}  // namespace regduel::oracles::uniform
