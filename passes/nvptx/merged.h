// Classes of merged roots, each with the union of their intervals.
//
// Source: source 004, phase 4, "Priority and Weight System". Weights are integers: the source's
//   weight = instructions + spill weight + uses
// with the spill weight as the sum of the frequencies of the operands. A weight is computed when it is first asked for, and then
// kept, with the pre-weighted flag of the source. A merge adds up the weights of both classes. Tested by merged_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "passes/nvptx/intervals.h"

namespace regduel::passes::nvptx {

class Merged {
 public:
  // `frequency` by block. All three live as long as this does; merge() changes the intervals.
  Merged(const ir::Function& f, Intervals& intervals, std::span<const std::int64_t> frequency);

  // The representative of the class of `root`, which has the intervals. Cost: O(log roots).
  [[nodiscard]] ir::VRegId find(ir::VRegId root) const;
  // The lowest root of the class, which names the merged vreg.
  [[nodiscard]] ir::VRegId lowest(ir::VRegId root) const { return classes_[find(root).index()].lowest; }
  [[nodiscard]] int pieces(ir::VRegId root) const { return intervals_.pieces(root); }
  // Requires find(root) == root.
  [[nodiscard]] LiveInterval& interval(ir::VRegId root, int piece) { return intervals_.of(root, piece); }
  [[nodiscard]] const LiveInterval& interval(ir::VRegId root, int piece) const { return intervals_.of(root, piece); }
  // The number of merges of the class. Requires find(root) == root.
  [[nodiscard]] std::uint32_t version(ir::VRegId root) const { return classes_[root.index()].version; }
  // Requires find(root) == root.
  [[nodiscard]] std::int64_t weight(ir::VRegId root);
  [[nodiscard]] bool is_weighed(ir::VRegId root) const { return classes_[root.index()].is_weighed; }

  // Requires: two different ones, each its own find(). Cost: O(log n) for each segment and definition of the smaller.
  void merge(ir::VRegId a, ir::VRegId b);

 private:
  struct Class {
    ir::VRegId parent, lowest;
    std::uint32_t version = 0;
    bool is_weighed = false;  // the pre-weighted flag
    std::int64_t weight = 0;
  };
  struct Counts {
    std::int64_t instructions = 0, uses = 0, spill_weight = 0;
  };
  [[nodiscard]] std::size_t size(ir::VRegId root) const;

  Intervals& intervals_;
  mutable std::vector<Class> classes_;  // by root
  std::vector<Counts> counts_;          // by representative, of its class
};

}  // namespace regduel::passes::nvptx
