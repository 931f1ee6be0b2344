// The origin of the value that a copy moves: the operand that it reads or, for an extract and an insert, the value that stood there
// before.
//
//   %q.d0 = copy %a     // insert                       %a = copy %q.d0     // extract
//   %b = copy %q.d0     // extract: its origin is %a    %r.d0 = copy %a     // insert: its origin is %q.d0
//
// In RIR a vreg of 64 bits cannot become the half of a quad, because each instruction that names it would ask for four registers
// where it asked for two. But where an insert and an extract of one piece meet in a block, the second is a copy between two vregs
// of one shape, and these can be merged. The same holds for the pieces of a pack and an unpack. Source: source 004, "Sub-Register
// Handling": which vregs are wide and paired, and that their halves are tracked. Tested by origins_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes::nvptx {

// Of each pair of each copy: a storage that holds the same bytes right before the copy, in a root that may become one with that
// of the def, at the same offset; an invalid root where there is none.
class Origins {
 public:
  // Cost: O(operands), for each block remembers the last kMostFacts moves of pieces.
  // A guarded copy has origins only where `guarded` says so.
  Origins(const ir::Function& f, bool guarded);

  // `inst` an index of f.insts, of a copy; `pair` below its number of pairs.
  [[nodiscard]] const ir::Storage& of(std::uint32_t inst, std::size_t pair) const { return origins_[first_[inst] + pair]; }
  // Whether the pair's origin is something else than what it reads.
  [[nodiscard]] bool is_through(std::uint32_t inst, std::size_t pair) const { return through_[first_[inst] + pair] != 0; }

  static constexpr std::size_t kMostFacts = 32;

 private:
  std::vector<std::uint32_t> first_;  // by instruction, where its origins begin
  std::vector<ir::Storage> origins_;
  std::vector<char> through_;
};

}  // namespace regduel::passes::nvptx
