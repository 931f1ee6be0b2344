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

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::generate {

enum class Profile : std::uint8_t {
  Straight,     // one block
  Loops,        // nested loops with breaks and continues
  Irreducible,  // loops with several entries, random edges, multi-edges
  Pressure,     // far more values alive than a small limit holds
  Tuples,       // pairs, triples, quads, octuples, odd alignments, pack and unpack
  Predicates,   // more predicates than registers for them; selects, negations, guards
  Uniform,      // UR, UR-ext, UP, UB beside R; copies between the files
  Tensor,       // mma on aligned tuples, accumulators in and out; ACC where the target has it
  Calls,        // calls by the ABI, device functions with fixed arguments and results
  Copies,       // copies, parallel copies, swaps, copies between files, hints
  Phis,         // several phis a join, loop-carried and swapped
  Guarded,      // most instructions under a guard
  Converted,    // runs of 40 to 200 guarded instructions, as if-conversion leaves them, that go on behind joins
  MixedSize,    // 8 and 16 bits beside 32 and 64; aliases
  Subregs,      // definitions and uses of parts, values built part by part
  Cliffs,       // pressure that jumps to just around a usual limit and falls again
  Undefined,    // reads that no definition reaches, on some path or on none
  Constraints,  // tied, early-clobber, def-use, fixed and precoloured operands
  Mix,          // one of the others (not Undefined), or a blend of two, by seed
};
inline constexpr int kNumProfiles = 19;
[[nodiscard]] std::span<const Profile> profiles();  // in the order of the enumeration
[[nodiscard]] std::string_view name(Profile p);     // "straight", "mixed_size", ...
[[nodiscard]] std::optional<Profile> profile_from_name(std::string_view s);

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
