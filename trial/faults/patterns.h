// Patterns: correct rewritings of a correct allocation into forms that no allocator makes by itself yet, so that the judges see
// each of them, valid and damaged. A pattern goes when an allocator makes its form.
//
// None of them needs a dataflow. A spill slot is a variable that only its spills and refills see, so it may become anything else
// that is written and read at the same places: a shared slot, registers of another file, one bit of a pack. A register that nothing
// mentions between two instructions may be somewhere else meanwhile. A def may be repeated in its block while nothing has written
// its register or its sources. Source: source 001 (predicate spilling, shared-memory slots, rematerialisation); FORMAT.md "Allocated
// programs". Tested by patterns_test.cpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "trial/faults/site.h"

namespace regduel::trial {

struct Patterned {
  ir::Function program;
  ir::Limits limits;  // those of the subject, raised where the pattern took registers above them
};

struct Pattern {
  std::string_view name;  // "p2r"
  std::string_view what;  // one line
  // Nothing where there is no place for it. Ensures: well-formed, and a correct allocation of subject.before under the limits
  // returned.
  std::optional<Patterned> (*apply)(const Subject& subject, Random& random);
};

[[nodiscard]] std::span<const Pattern> patterns();

}  // namespace regduel::trial
