// Which values may differ between the threads of a warp, and which blocks not all threads run together.
//
//   varying(r)     some def of the root r reads a varying root, has a varying guard, is in a diverged block, or comes from what differs:
//                  an identity of a thread, memory that may change, an atomic, a call, another thread, an argument.
//                  What the program itself has in UR, UP or UB, or marks `uniform`, does not vary. A vote or a reduction gives all threads of its mask the same, so it varies only where its mask or its guard does
//   diverged(b)    b is on a way from a branch with a varying condition to the block where all its ways have met again
//
// the least solution. The block where all ways have met is the immediate postdominator of the branch; without one it is the end of
// the program. An edge to a block that does nothing but exit is no way: threads that leave miss nothing. Tested by uniform_test.cpp.
#pragma once

#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes {

class Divergence {
 public:
  // Cost: O(passes x size), and for each varying branch O(blocks).
  Divergence(const ir::Function& f, const ir::Cfg& cfg);

  [[nodiscard]] bool is_varying(ir::VRegId root) const { return varying_[root.index()] != 0; }
  [[nodiscard]] bool is_diverged(ir::BlockId b) const { return diverged_[b.index()] != 0; }

 private:
  void find_meetings();
  // Whether the block does nothing but exit.
  [[nodiscard]] bool leaves(ir::BlockId b) const;
  void diverge(ir::BlockId branch);
  [[nodiscard]] bool makes_varying(const ir::Inst& i) const;

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  std::vector<char> varying_;         // by root
  std::vector<char> diverged_;        // by block
  std::vector<ir::BlockId> meeting_;  // by block: its immediate postdominator; invalid = the end
};

// Whether a special register, as "%ctaid.x", is the same in all threads of a warp.
[[nodiscard]] bool is_shared_by_threads(std::string_view special_register);

}  // namespace regduel::passes
