// Emitters fill the blocks of a generated program, with instructions of any kind and with those that a block owes other blocks.
#pragma once

#include <span>

#include "generate/builder.h"

namespace regduel::generate {

// Adds at least one instruction to b.body, of a kind that is drawn by the weights of the profile. Sequences keep to about b.room
// instructions. Cost: O(instructions added).
void emit(Builder& b);

// Writes the available root `v` again, or for the first time, with one whole unguarded def.
void emit_def_of(Builder& b, ir::VRegId v);
// Stores all of `values`, a few at a time, so that they live up to here.
void emit_sink(Builder& b, std::span<const ir::VRegId> values);
// The head of a device function, with the arguments in their registers, and its foot: `ret`, with the results in theirs.
void emit_abi_entry(Builder& b);
[[nodiscard]] Draft make_ret(Builder& b);

}  // namespace regduel::generate
