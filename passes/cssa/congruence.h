// Congruence classes: nodes that become one vreg, each class with the union of the ranges of its nodes. Two classes *interfere*
// where intervals of them overlap that hold different values (Sreedhar et al. 1999, "phi congruence classes"; Boissinot et al.
// 2009, "Linear-time interference checking" asks the same of two classes).
//
// The intervals of a class are a tree ordered by their begins, and of two classes the smaller one is looked up in, and goes into,
// the larger: n intervals altogether cost O(n log^2 n), however they are merged. Tested by congruence_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "passes/cssa/live_ranges.h"

namespace regduel::passes::conventional {

class Congruence {
 public:
  // Every node in a class of its own.
  explicit Congruence(std::span<const LiveRange> ranges);

  // The first node of the class, the smallest.
  [[nodiscard]] std::uint32_t class_of(std::uint32_t node) const;
  // Requires: of two classes.
  [[nodiscard]] bool interfere(std::uint32_t a, std::uint32_t b) const;
  // Requires: of two classes, which do not interfere.
  void merge(std::uint32_t a, std::uint32_t b);

 private:
  struct Held {
    std::uint32_t end = 0, value = 0;
  };
  using Intervals = std::map<std::uint32_t, Held>;  // by begin, disjoint

  mutable std::vector<std::uint32_t> up_;  // by node: one step towards the first of its class
  std::vector<Intervals> intervals_;       // by first node
};

}  // namespace regduel::passes::conventional
