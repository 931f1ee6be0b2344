// Which roots have become one, with their intervals poured together.
//
// Source: source 004, phase 4, "Priority and Weight System". Weights are integers: the source's
//   weight = instructions + spill weight + uses
// with the spill weight as the sum of the frequencies of the operands. A weight is computed where it is first asked for and kept,
// with the flag that says so; what becomes one adds up what its parts weighed. Tested by merged_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "passes/nvptx/intervals.h"

namespace regduel::passes::nvptx {

class Merged {
 public:
  // `frequency` by block. All three live as long as this does; merge() changes the intervals.
  Merged(const ir::Function& f, Intervals& intervals, std::span<const std::uint64_t> frequency);

  // The root that stands for all that have become one with `root`: whichever has the intervals. Cost: O(log roots).
  [[nodiscard]] ir::VRegId find(ir::VRegId root) const;
  // Of those that have become one with it, the lowest number: the name under which they go on.
  [[nodiscard]] ir::VRegId lowest(ir::VRegId root) const { return classes_[find(root).index()].lowest; }
  [[nodiscard]] int pieces(ir::VRegId root) const { return intervals_.pieces(root); }
  // Requires find(root) == root.
  [[nodiscard]] LiveInterval& interval(ir::VRegId root, int piece) { return intervals_.of(root, piece); }
  [[nodiscard]] const LiveInterval& interval(ir::VRegId root, int piece) const { return intervals_.of(root, piece); }
  // How many merges it has seen. Requires find(root) == root.
  [[nodiscard]] std::uint32_t version(ir::VRegId root) const { return classes_[root.index()].version; }
  // Requires find(root) == root.
  [[nodiscard]] std::uint64_t weight(ir::VRegId root);
  [[nodiscard]] bool is_weighed(ir::VRegId root) const { return classes_[root.index()].is_weighed; }

  // Requires: two different ones, each its own find(). Cost: O(log n) for each segment and definition of the smaller.
  void merge(ir::VRegId a, ir::VRegId b);

 private:
  struct Class {
    ir::VRegId parent, lowest;
    std::uint32_t version = 0;
    bool is_weighed = false;  // the pre-weighted flag
    std::uint64_t weight = 0;
  };
  struct Counts {
    std::uint64_t instructions = 0, uses = 0, spill_weight = 0;
  };
  [[nodiscard]] std::size_t size(ir::VRegId root) const;

  Intervals& intervals_;
  mutable std::vector<Class> classes_;  // by root
  std::vector<Counts> counts_;          // by root, of all that have become one with it
};

}  // namespace regduel::passes::nvptx
