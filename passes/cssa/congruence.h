// Congruence classes: sets of nodes that become one vreg, each with the union of the live ranges of its nodes. Two classes
// *interfere* if two of their segments overlap and hold different values (Sreedhar et al. 1999, "phi congruence classes";
// Boissinot et al. 2009, "Linear-time interference checking" asks the same of two classes).
//
// A query or a merge walks the smaller of two ranges and looks each segment up in the larger, so n segments cost O(n log^2 n)
// altogether, in any order of merges. Tested by congruence_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "passes/cssa/live_ranges.h"

namespace regduel::passes::conventional {

class Congruence {
 public:
  // Makes a class of each node.
  explicit Congruence(std::span<const live::Segments> ranges);

  // The first node of the class, the smallest.
  [[nodiscard]] std::uint32_t class_of(std::uint32_t node) const;
  // Requires: of two classes.
  [[nodiscard]] bool interfere(std::uint32_t a, std::uint32_t b) const;
  // Requires: of two classes, which do not interfere.
  void merge(std::uint32_t a, std::uint32_t b);

 private:
  mutable std::vector<std::uint32_t> up_;  // by node: one step towards the first of its class
  std::vector<live::Segments> ranges_;     // by first node
};

}  // namespace regduel::passes::conventional
