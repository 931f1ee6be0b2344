// Patterns: correct rewritings of a correct allocation into forms that no allocator makes by itself yet (predicates spilled through
// packs, bit-spills, spilled packs, remats, shared-memory slots, saved callee-saved registers), so that the judges see each of
// them, valid and damaged.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "fuzz/faults/operators.h"

namespace regduel::fuzz {

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

}  // namespace regduel::fuzz
