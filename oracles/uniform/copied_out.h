// Finds the bits that were copied out of a uniform register. They are the same in all threads, whatever they are, as long as they are
// only copied on. A clobber needs no rule: nothing is known of what it leaves. A forward
// must-analysis by bit, since predicates go out to bits of packs. Tested by copied_out_test.cpp.
//
//   same(L)   at a point, of a bit of a register or of the frame: the instruction that wrote it last did so without a guard, and what it
//             copied was in a uniform register, or was same() before. Where two ways meet that threads take apart, it is one instruction
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oracles/symbolic/plan.h"

namespace regduel::oracles::uniform {

// True of the words of the uniform files and of their predicates.
[[nodiscard]] bool is_uniform_location(const symbolic::Plan& plan, std::uint32_t location);

class CopiedOut {
 public:
  //   meets   by block: ways that threads take apart may meet there
  // Cost: rounds x (steps + what is same() at heads of blocks). Requires: the arguments outlive this.
  CopiedOut(const symbolic::Plan& plan, std::span<const char> meets);

  // To the head of a block, and from there over its steps, each in turn.
  void move_to(std::uint32_t block);
  void step(std::uint32_t step);
  // Behind the last step, of a byte of a location. Of a uniform register: what was written to it last was same(), or came from another
  // one.
  [[nodiscard]] bool is_same(std::uint32_t location, std::uint8_t byte) const;
  // True if a copy of this bit, or of this byte, gets the same in all threads: it is same(), or in a uniform register.
  [[nodiscard]] bool gives_same(std::uint32_t location, std::uint32_t bit) const;
  [[nodiscard]] bool gives_same_byte(std::uint32_t location, std::uint32_t byte) const;

 private:
  // Who wrote a bit last: a step, or different ones that meet at the head of a block (its number behind those of all steps); kNone if it
  // is not same().
  using Writer = std::uint32_t;
  static constexpr Writer kNone = ~0U;
  static constexpr std::uint32_t kBitsOfCell = 32;  // a predicate is a byte, of which all bits are alike
  // The bits that are same() at the head of a block. Until a path is seen to reach the block, nothing is said of it.
  struct Head {
    bool is_reached = false;
    std::vector<std::pair<std::uint32_t, Writer>> writers;  // of a bit, by location * kBitsOfCell
  };

  void set(std::uint32_t bit, Writer writer);
  [[nodiscard]] Writer copied(std::uint32_t bit, Writer step) const {
    return gives_same(bit / kBitsOfCell, bit % kBitsOfCell) ? step : kNone;
  }
  void write(const Place& to, Writer writer);
  void copy(const symbolic::Step& s, Writer step);
  // Into the state at the head of the block; true if that changes.
  bool meet(std::uint32_t to);

  const symbolic::Plan& plan_;
  const std::span<const char> meets_;
  std::vector<Writer> writers_;       // by bit
  std::vector<std::uint32_t> cells_;  // that have, or had, a bit that is same() since move_to(); each once
  std::vector<char> is_listed_;       // by cell
  std::vector<Head> heads_;           // by block
  std::vector<Writer> fetched_;       // by the copy at hand: of the bits of its defs
};

}  // namespace regduel::oracles::uniform
