// The emitters: one function a kind of instruction, each adding one well-formed instruction (or a short sequence) with
// the operands that fit.
#pragma once

#include "generate/builder.h"

namespace regduel::generate {

// Adds at least one instruction to b.body. `room` is how many more the block should get: sequences keep to about that.
// Cost: O(instructions added).
void emit(Builder& b, Emit kind, int room);
// Draws a kind by the weights of the profile.
[[nodiscard]] Emit draw_kind(Builder& b);

// Writes the available root `v` again, or for the first time, with one whole unguarded def.
void emit_def_of(Builder& b, ir::VRegId v);
// Stores all of `values`, a few at a time: keeps them alive up to here.
void emit_sink(Builder& b, std::span<const ir::VRegId> values);
// The head of a device function: arguments in their registers. The foot: `ret`, with results in theirs.
void emit_abi_entry(Builder& b);
[[nodiscard]] Draft make_ret(Builder& b);

}  // namespace regduel::generate
