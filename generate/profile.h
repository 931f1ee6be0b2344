// The profiles: each names a form that a random program is to be rich in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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
  Plain,        // 32-bit values and predicates, in blocks, without anything else: for an allocator that does not do much yet
};
inline constexpr int kNumProfiles = 19;             // without Plain, which is for those who ask for it
[[nodiscard]] std::span<const Profile> profiles();  // in the order of the enumeration, without Plain
[[nodiscard]] std::string_view name(Profile p);     // "straight", "mixed_size", ...
[[nodiscard]] std::optional<Profile> profile_from_name(std::string_view s);

}  // namespace regduel::generate
