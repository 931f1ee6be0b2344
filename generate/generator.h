// The total generator: a profile, a seed, a size and a target give a program. No input is rejected, every program is
// well-formed (ir::check, also against its target), and the same options give the same bytes on every compiler.
//
// Except in the profile `undefined`, every read is reached by a definition on all paths: a value is offered for reading
// only in the blocks that its definition dominates, or at a join before which every predecessor defines it. A guarded def
// is not a definition in this sense, but for reads under the same guard, unchanged since; a definition of a part defines the
// bytes of that part only.
//
// Tested by generator_test.cpp (well-formedness, definedness by a dataflow of its own, each promise of each profile).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "generate/profile.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::generate {

struct GeneratorOptions {
  Profile profile = Profile::Mix;
  std::uint64_t seed = 1;
  int size = 0;  // instructions, approximately, at least 1; 0 = drawn from the seed: median above 120, 10% above 1,000
  std::string target = "sm_90";  // a shipped target: ir::find_target knows it
};
// Requires options.target to be a shipped target. Cost: O(size).
[[nodiscard]] ir::Function generate(const GeneratorOptions& options);
// The same for any target that has at least 32 units in R and 4 in P, of which the lower 16 and 4 are not reserved.
// options.target is not read; the program names `target.name`.
[[nodiscard]] ir::Function generate(const GeneratorOptions& options, const ir::Target& target);

// For each file a limit at which every instruction of `f` fits, found by packing its operands greedily: at least the
// demand of FORMAT.md, and mostly equal to it. 0 where the file is not used. Cost: O(size).
[[nodiscard]] ir::PerFile<int> demand_bound(const ir::Function& f, const ir::Target& target);

}  // namespace regduel::generate
