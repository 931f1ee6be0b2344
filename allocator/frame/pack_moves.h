// Moves of predicates to and from their packs, once registers are known: numbers the bits, and joins moves.
//
// The plan's bit numbers are arbitrary. Here a bit gets the number of the register to and from which its predicate moves most often,
// if that number is free. Neighbouring moves of bits that have their register's number become one p2r or r2p; the others are
// bit_spill and bit_refill.
//
// Source: sources 000 (P2R, bit-spill) and 001 (bit-spill). Tested by predicate_packs_test.cpp and pack_moves_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator/spill_code/location.h"
#include "allocator/spill_code/spill_code.h"
#include "ir/allocator.h"

namespace regduel::allocator {

class PackMoves {
 public:
  //   homes   by vreg of the code: first unit of its home
  PackMoves(const SpillCode& code, const std::vector<int>& homes, ir::Fuel* fuel);

  struct Move {
    ir::Op op = ir::Op::BitSpill;
    std::vector<ir::Operand> ops;  // name vregs
    std::size_t count = 1;         // instructions of the code that it replaces
  };
  // The move that replaces the bit_spill or bit_refill at `index` and the following ones that join it. Requires: [index, end) are of
  // one block.
  [[nodiscard]] Move at(std::size_t index, std::size_t end) const;

 private:
  // The number of each bit of a pack; -1 = no predicate is there.
  using Numbers = std::array<int, Location::kPackBits>;
  void number_bits();
  [[nodiscard]] ir::VRegId pack(const ir::Inst& inst) const;
  [[nodiscard]] ir::VRegId predicate(const ir::Inst& inst) const;
  [[nodiscard]] std::size_t bit(const ir::Inst& inst) const;
  [[nodiscard]] int number(const ir::Inst& inst) const;

  const ir::Function& f_;
  const std::vector<int>& homes_;
  ir::Fuel* fuel_;
  std::vector<std::uint32_t> which_;  // by vreg: place in numbers_ of a pack, or of the pack that it is a copy of
  std::vector<Numbers> numbers_;
};

}  // namespace regduel::allocator
