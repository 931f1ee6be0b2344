// An allocator that proves bounds on what any allocation of the program needs, beside making one. Data and one abstract class.
//
// A bound is about a class of allocations, and about the program and the limits that it was asked for. Passes before the allocator
// change the program, so an allocator behind them is no prover. docs/bounds.md has the classes.
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "ir/allocator.h"

namespace regduel::ir {

struct Bound {
  enum class Kind : std::uint8_t {
    Registers,          // highest unit used + 1, in the file; each value in one home
    SpillBytes,         // weighted, of all files; each value in one home, or in memory throughout
    SpillBytesByPoint,  // the same; each value in registers or in memory, here and there
  };
  Kind kind = Kind::Registers;
  RegFile file = RegFile::R;
  std::int64_t at_least = 0;
};

class Prover : public Allocator {
 public:
  // Of all its bounds.
  [[nodiscard]] virtual Bound::Kind kind() const = 0;
  // As allocate() does, with the bounds that were proved, also where the allocation fails.
  [[nodiscard]] virtual std::expected<Allocation, AllocFailure> prove(const Function& program, const Target& target,
                                                                      const AllocOptions& options,
                                                                      std::vector<Bound>& bounds) const = 0;
  [[nodiscard]] std::expected<Allocation, AllocFailure> allocate(const Function& program, const Target& target,
                                                                 const AllocOptions& options) const final {
    std::vector<Bound> bounds;
    return prove(program, target, options, bounds);
  }
};

}  // namespace regduel::ir
