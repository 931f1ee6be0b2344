// Structure-aware mutations of a fuzz input: each changes one thing of the program, the limits, the knobs or the target, and what
// comes out is well-formed again. And crossover.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/random.h"
#include "duel/case.h"

namespace regduel::fuzz {

// The number of a mutation in the table of mutator.cpp, which says what each of them does.
enum class Mutation : std::uint8_t {};
inline constexpr int kNumMutations = 38;
[[nodiscard]] std::string_view name(Mutation m);

// Applies `m` at a place that `seed` names. False, and the input as it was, where there is no such place or where the result
// would not be well-formed. Cost: O(size).
bool apply(Mutation m, duel::Case& input, std::uint64_t seed);
// One to three mutations, drawn; always leaves a well-formed input, and changes something in nearly all cases.
void mutate(duel::Case& input, std::uint64_t seed);
// A knob of one of these: set, another value, or default again. False where nothing changed. Requires: not none of them.
bool change_knob(duel::Case& input, std::span<const ir::Allocator* const> owners, Random& random);
// A child of two inputs: the first with stretches of the second's program, and some of its limits and knobs. Well-formed; the first
// itself where nothing of the second fits. Cost: O(size of both).
[[nodiscard]] duel::Case cross(const duel::Case& a, const duel::Case& b, std::uint64_t seed);

}  // namespace regduel::fuzz
