// The fast check of seed 000 "Post-Allocation Verification", for a whole function at once. Internal to the judge.
// Tested by memcheck_test.cpp and memcheck_details_test.cpp (the deep check has something to say only of what this one suspects).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/reaching_sets.h"

namespace regduel::oracles {

// The guard of an instruction as an index into the function's operands.
[[nodiscard]] std::optional<std::size_t> guard_of(const ir::Function& f, const ir::Inst& i);

// True where `repeat`, a remat in the program after, has the form of an instruction of the program before that may be executed
// again. What its operands hold is another matter.
[[nodiscard]] bool has_form_of(const ir::Function& before, const ir::Inst& old, const ir::Function& after, const ir::Inst& repeat);

// The definitions that reach operand `x` of one program are those that reach operand `y` of the other (indices into operands).
[[nodiscard]] bool reads_same(ReachSets& before, std::size_t x, ReachSets& after, std::size_t y);

struct FastAnswer {
  // Original instructions that the deep check must look at, sorted, each once: not all definitions that reach their operands after
  // are those from before, or a callee-saved register does not come back to them. The others have no mismatch of any kind, not even
  // on old code. nullopt = any instruction: some guard is doubtful, or some remat is not what it repeats, and so a definition of
  // its own.
  std::optional<std::vector<ir::InstId>> suspects;
  // Original instructions whose guard may be undefined before, sorted. Where there are any, nothing else was looked at.
  std::vector<ir::InstId> doubtful;

  [[nodiscard]] bool is_same() const { return suspects && suspects->empty(); }
};
// Cost: near-linear in the size of both programs, and a small part of the deep check's.
[[nodiscard]] FastAnswer fast_check(const Case& c);

}  // namespace regduel::oracles
