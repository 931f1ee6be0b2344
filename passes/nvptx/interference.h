// May two merged vregs become one, or are they live at one point with two values?
//
//   x and y interfere  <=>  one is written at a point where the other is live, or written too,
//                           and the write is not one of a copy that makes them equal
//
// Source: source 004, "Interference Check". The source's already-coalesced set are the instructions that have nothing left to do
// once the two are one, and so define nothing. Its members are copies within one of the two, copies from one to the other, phis
// all of whose uses are among the two, and ties of a def to a use that dies there. So `%1 = copy %0` does not make %0 and %1
// interfere though both live on: they are equal until one of them is written (Chaitin 1982). A copy from a third vreg no longer
// makes x and y interfere once the third has been merged with either, which is why there is a second heap (worklist.h).
//
// The check looks only at overlaps: at the segments of the smaller range in the tree of the larger, and at the definitions there.
// Tested by interference_test.cpp.
#pragma once

#include <cstdint>

#include <boost/unordered_map.hpp>

#include "passes/nvptx/merged.h"

namespace regduel::passes::nvptx {

class Interference {
 public:
  // Both live as long as this does.
  Interference(const ir::Function& f, Merged& merged) : f_(f), merged_(merged) {}

  // Requires: two different ones, of one shape, each its own find(). An answer is kept until one of the two is merged. Definitions
  // of members of the already-coalesced set that are met are taken out of the intervals.
  // Cost: O(s log n + definitions where they overlap), s = segments of the one with fewer.
  [[nodiscard]] bool between(ir::VRegId x, ir::VRegId y);

  // Whether each definition of `local` is a copy from `other`, so that no more need be asked where `other` lives through the only
  // block in which `local` does.
  [[nodiscard]] bool only_copies(ir::VRegId local, ir::VRegId other);

  // Where two written in one instruction, or an early-clobber def and what its instruction reads, would become one.
  // Pieces of their own do not show that. Cost: O(operands of the instructions that write either).
  [[nodiscard]] bool clash_in_an_instruction(ir::VRegId x, ir::VRegId y);

 private:
  [[nodiscard]] bool ask(ir::VRegId x, ir::VRegId y);
  // Among the definitions of `mine` in [from, to), where `other` is live.
  [[nodiscard]] bool is_blocked(ir::VRegId mine, ir::VRegId other, int piece, Point from, Point to);
  // Whether the definition has nothing left to do and can be erased.
  [[nodiscard]] bool is_gone(const Definition& d, ir::VRegId mine) const;
  // Whether the definition leaves x and y equal.
  [[nodiscard]] bool keeps_equal(const Definition& d, ir::VRegId x, ir::VRegId y) const;

  const ir::Function& f_;
  Merged& merged_;
  struct Answer {
    std::uint32_t version_x = 0, version_y = 0;
  };
  boost::unordered_map<std::uint64_t, Answer> interfere_;  // looked up only
};

}  // namespace regduel::passes::nvptx
