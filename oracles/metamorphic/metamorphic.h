// The metamorphic judge: an allocator is asked again, about the same program and about variants of it that mean the same.
//
//   repeat              the same input: the same bytes out, the same claims, the same failure message; else "nondeterministic"
//   rename-vregs        other vreg numbers          |
//   rename-insts        other instruction numbers   |  the same verdict of all judges together; a failure counts as judged by
//   permute-blocks      the entry stays first       |  completeness (completeness.h). Else "verdict-changed-<variant>"
//   names               other names and symbols     |
//   dead-defs, unreachable-blocks, unused-vregs     |
//   one-register-more   the same, but what was impossible may now be possible
//
// An inconclusive verdict is not compared: the result is then inconclusive too, unless another relation fails. Quality may change:
// changed figures are observations, not findings. With one register more, only figures that grew worse are observed.
//
// Source: Chen, Cheung, Yiu, "Metamorphic testing", 1998. Tested by metamorphic_test.cpp with allocators that are
// made to fail each relation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/judge.h"

namespace regduel::ir {
class Allocator;
struct AllocOptions;
}  // namespace regduel::ir

namespace regduel::oracles {

// A figure (quality.h, Measures) that is another for the variant than for the program itself.
struct Observation {
  std::string variant;
  std::string what;  // "registers" (of file R), "spill_store_bytes", "spill_load_bytes", "weighted_spill_bytes"
  std::int64_t before = 0, after = 0;

  friend bool operator==(const Observation&, const Observation&) = default;
};

struct MetamorphicResult {
  JudgeResult result;                     // judge "metamorphic"; its findings are of the function as a whole
  std::vector<Observation> observations;  // in the order of the variants, then of the figures
};

// The names of the variants, in order; "repeat" is the first.
[[nodiscard]] std::span<const std::string_view> metamorphic_variants();

//   Requires  the program well-formed for its target, in phase Virtual.
//   Never throws: an internal error of the allocator is a verdict like another ("harness/internal-error").
//   Skipped where the allocator refuses a knob.   Cost: about nine allocations, and eight times all judges.
[[nodiscard]] MetamorphicResult judge_metamorphic(const Before& before, const ir::Allocator& allocator,
                                                  const ir::AllocOptions& options, std::uint64_t seed = 0);

}  // namespace regduel::oracles
