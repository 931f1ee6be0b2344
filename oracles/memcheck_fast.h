// The fast check of seed 000 "Post-Allocation Verification", for a whole function at once. Internal to the judge.
// Tested by memcheck_test.cpp and memcheck_details_test.cpp (whatever the deep check has to say is said only where this one says false).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "oracles/memcheck.h"
#include "oracles/reaching_sets.h"

namespace regduel::oracles {

// The guard of an instruction as an index into the function's operands.
[[nodiscard]] std::optional<std::size_t> guard_of(const ir::Function& f, const ir::Inst& i);

// True where `repeat`, a remat in the program after, has the form of an instruction of the program before that may be executed again.
// What its operands hold is another matter.
[[nodiscard]] bool has_form_of(const ir::Function& before, const ir::Inst& old, const ir::Function& after, const ir::Inst& repeat);

// The definitions that reach operand `x` of one program are those that reach operand `y` of the other (indices into operands).
[[nodiscard]] bool reads_same(ReachSets& before, std::size_t x, ReachSets& after, std::size_t y);

struct FastAnswer {
  // True only where the definitions that reach each operand before are those that reach it after, remats are what they repeat, and
  // callee-saved registers come back: then there is no mismatch of any kind, not even on old code. False: the deep check must look.
  bool is_same = false;
  // Original instructions whose guard may be undefined before, sorted. Where there are any, nothing else was looked at.
  std::vector<ir::InstId> doubtful;
};
// Cost: near-linear in the size of both programs, and a small part of the deep check's.
[[nodiscard]] FastAnswer fast_check(const Case& c);

}  // namespace regduel::oracles
