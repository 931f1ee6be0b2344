// Which values are the same in all threads of a warp; the formula is in uniform.h. Tested by shared_values_test.cpp.
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

  void mark(Value v, std::uint8_t counted);
  [[nodiscard]] bool is_shared_leaf(Value v) const;
  [[nodiscard]] bool decide(Value v);
  // True if the join of the block gave a number that is in the value.
  [[nodiscard]] bool has_number_of_block(Value v, std::uint32_t block) const;
  static constexpr std::size_t kMostParts = 64;  // of a value, that are looked at
  // A name at the head of a block, for which the block gave numbers.
  struct Head {
    Value value = kTop;        // there
    std::uint8_t counted = 0;  // bytes of the name (Plan::bytes_of_name)
    bool meets = false;
    std::size_t begin = 0, end = 0;  // of what comes in on the edges
    std::vector<Value> pieces;       // bytes of the value with numbers of the block: as wholes, what is in them may vary
  };
  [[nodiscard]] std::vector<Head> heads_of(const Edges& edges);
  [[nodiscard]] std::vector<Value> sole_values(const std::vector<Head>& heads, const Edges& edges);
  // The bytes of a name (Plan::bytes_of_name); Top for those that it does not have.
  [[nodiscard]] std::array<Value, 4> bytes_of(Value v, std::uint8_t counted);

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
