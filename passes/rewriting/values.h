// Roots with one def that holds at every use, as in SSA form: the def is of the whole root, has no guard, is no phi's, and dominates all
// reads. Such a root holds the same wherever it is read between two executions of the def, so that a use may stand anywhere that
// the def dominates. Tested by values_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"
#include "passes/rewriting/dominators.h"

namespace regduel::passes {

class Values {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  Values(const ir::Function& f, const ir::Cfg& cfg, const Dominators& dominators);

  // The only def of the root, as a position in Function::insts; kNone where it is not of this kind.
  [[nodiscard]] std::uint32_t def_of(ir::VRegId root) const { return def_[root.index()]; }
  [[nodiscard]] bool is_value(ir::VRegId root) const { return def_[root.index()] != kNone; }
  [[nodiscard]] ir::BlockId block_of(std::uint32_t inst) const { return block_[inst]; }
  struct Read {
    std::uint32_t inst = 0;
    ir::BlockId block;  // where the value is read: of a phi, the end of the predecessor
  };
  // All reads of a root, those through aliases too.
  [[nodiscard]] std::span<const Read> reads_of(ir::VRegId root) const { return reads_[root.index()]; }

 private:
  std::vector<std::uint32_t> def_;  // by root
  std::vector<ir::BlockId> block_;  // by instruction
  Grouped<Read> reads_;             // by root
};

}  // namespace regduel::passes
