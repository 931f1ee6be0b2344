// What was copied out of a uniform register: it is the same in all threads, whatever it is, as long as it is only copied on. A forward
// must-analysis by byte of a location. Tested by copied_out_test.cpp.
//
//   same(L)   at a point, of a byte of a register or of the frame: the instruction that wrote it last did so without a guard, and what it
//             copied was in a uniform register, or was same() before. Where two ways meet that threads take apart, it is one instruction
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracles/symbolic/plan.h"

namespace regduel::oracles::uniform {

// True of the words of the uniform files and of their predicates.
[[nodiscard]] bool is_uniform_location(const symbolic::Plan& plan, std::uint32_t location);

class CopiedOut {
 public:
  //   meets   by block: ways that threads take apart may meet there
  // Cost: rounds x (steps + live locations). Requires: the arguments outlive this.
  CopiedOut(const symbolic::Plan& plan, std::span<const char> meets);

  // To the head of a block, and from there over its steps, each in turn.
  void move_to(std::uint32_t block);
  void step(std::uint32_t step);
  // Behind the last step. Of a uniform register: what was written to it last was same(), or came from another one.
  [[nodiscard]] bool is_same(std::uint32_t location, std::uint8_t byte) const { return writer_of(location, byte) != kNone; }

 private:
  // Who wrote a byte last: a step, or different ones that meet at the head of a block (its number behind those of all steps); kNone if it
  // is not same(), kAny where no path has been seen yet.
  using Writer = std::uint32_t;
  static constexpr Writer kNone = ~0U, kAny = ~0U - 1;

  [[nodiscard]] Writer writer_of(std::uint32_t location, std::uint8_t byte) const { return writers_[location * 4U + byte]; }
  [[nodiscard]] bool copies_same(const Place& from, std::uint32_t byte) const;
  void write(const Place& to, Writer writer);
  // Into the state at the head of the block to which the edge leads; true if that changes.
  bool meet(std::uint32_t to);

  const symbolic::Plan& plan_;
  const std::span<const char> meets_;
  std::vector<Writer> writers_;             // four a location
  std::vector<std::vector<Writer>> heads_;  // by block: of its live locations
  std::vector<Writer> written_;             // by the step at hand: of the bytes of its defs
};

}  // namespace regduel::oracles::uniform
