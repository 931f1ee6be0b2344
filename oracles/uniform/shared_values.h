// Which values are the same in all threads of a warp; the formula is in uniform.h. Tested by shared_values_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oracles/judge.h"
#include "oracles/symbolic/fixed_point.h"
#include "oracles/uniform/marks.h"

namespace regduel::oracles::uniform {

class SharedValues {
 public:
  // The values that declared names hold. Walks over all blocks. Requires: `analysis` is settled, and the arguments outlive this.
  SharedValues(const Case& c, symbolic::Plan& plan, symbolic::FixedPoint& analysis, const std::vector<char>& declared);

  // Where is_shared() looks.
  void move_to(std::uint32_t block);
  // Of a byte, a predicate, or a bit of a pack.
  [[nodiscard]] bool is_shared(Value v);
  // Adds those that declared names hold behind a branch that all threads take alike (marks.h). Walks over all blocks if that can be;
  // false if not.
  bool add_marks_before_branches();
  // Adds those that other names hold at heads of blocks: the last equation, which is rarely asked for. Walks over all blocks.
  void add_heads();
  // By block: two ways from a branch that varies meet there. All blocks before add_heads().
  [[nodiscard]] std::span<const char> meeting_points() const { return meets_; }

 private:
  class Marker;
  class Edges;

  static constexpr std::uint32_t kEverywhere = ~0U;  // instead of a block
  void mark(Value v, std::uint8_t counted, std::uint32_t block);
  void mark_byte(Value b, std::uint32_t block);
  [[nodiscard]] bool is_shared_leaf(Value v) const;
  [[nodiscard]] bool decide(Value v);
  // True if the join of the block gave a number that is in the value.
  [[nodiscard]] bool has_number_of_block(Value v, std::uint32_t block) const;
  [[nodiscard]] std::vector<std::uint32_t> blocks_that_make(Value v) const;
  [[nodiscard]] bool is_made_in(Value v, std::uint32_t block) const;
  [[nodiscard]] std::vector<Value> tokens_in(Value v) const;
  // The value, and what it is made of.
  [[nodiscard]] std::vector<Value> parts_of(Value v) const;
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
  std::vector<char> is_declared_;        // by name
  std::vector<std::uint32_t> block_of_;  // by instruction of the program before: where the program after has it
  std::vector<char> meets_;              // by block
  Marks marks_;                          // of what declared names hold
  std::vector<std::uint32_t> assumed_;   // by value: how many names hold it at heads of blocks and may be shared
  struct Answer {
    std::uint32_t round = 0;
    bool is_yes = false;
  };
  std::vector<Answer> answers_;  // by value; those of this round count
  std::uint32_t round_ = 1;
};

}  // namespace regduel::oracles::uniform
