// An allocation of LLVM that all judges accept, damaged on purpose: do they see it?
//
// The fault operators are those of trial/faults, on the pair of RIR that was mapped. The execution judge says which damage changes what the
// program does; each of these must be caught by a static judge. Tested by damage_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/judge/judge_pair.h"

namespace regduel::llvm {

struct Escaped {
  std::string fault;  // name of the operator
  std::string after;  // RIR
};
struct Damage {
  int injected = 0, changing = 0, caught = 0;
  std::vector<Escaped> escaped;  // changing, and caught by no static judge

  void add(Damage d) {
    injected += d.injected, changing += d.changing, caught += d.caught;
    for (Escaped& e : d.escaped) escaped.push_back(std::move(e));
  }
};

// Requires a verdict that passed and kept its RIR.
//   most   faults injected, each by another operator, in an order that the seed draws
// Cost: all judges but quality, once for each.
[[nodiscard]] Damage damage(const Verdict& good, std::uint64_t seed, int most);

}  // namespace regduel::llvm
