// Which bytes of R hold a value that is read later, in an allocated program: some def reaches the point, and a use is reached from it. A
// phi that stays moves nothing, since its operands have one home. Tested by register_rules_test.cpp.
#pragma once

#include <bitset>
#include <cstddef>
#include <vector>

#include "ir/program.h"

namespace regduel::oracles {

// Byte b is of unit b / 4.
using BytesOfR = std::bitset<std::size_t{4} * ir::kMaxUnits>;

class HeldBytes {
 public:
  // Cost O(instructions x visits of their block).
  explicit HeldBytes(const ir::Function& allocated);

  // Before each instruction of a block, in their order.
  [[nodiscard]] std::vector<BytesOfR> before(ir::BlockId b) const;

 private:
  struct Effect {
    BytesOfR reads, writes, kills;
  };
  [[nodiscard]] Effect effect(const ir::Inst& i) const;
  [[nodiscard]] BytesOfR live_at_end(ir::BlockId b) const;

  const ir::Function& f_;
  std::vector<BytesOfR> live_, reached_;  // by block: at its head
};

}  // namespace regduel::oracles
