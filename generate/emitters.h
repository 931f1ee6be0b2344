// The emitters of each kind of instruction (Emit, in features.h), and what they share. emit.cpp has the table of them.
#pragma once

#include <array>

#include "generate/builder.h"
#include "generate/draw.h"

namespace regduel::generate {

// Adds at least one well-formed instruction, or a short sequence, with the operands that fit. An emitter that cannot make its own
// kind here makes another.
using Emitter = void(Builder& b);

// emit_operations.cpp
Emitter emit_alu, emit_load, emit_store, emit_atomic, emit_setp, emit_pred_logic, emit_select, emit_uniform, emit_uniform_pred,
    emit_barrier_register, emit_tensor, emit_acc, emit_barrier, emit_no_operands, emit_many_uses, emit_multi_def;
// emit_moves.cpp
Emitter emit_constant, emit_copy, emit_parallel_copy, emit_cross_copy, emit_pack, emit_unpack, emit_part_build, emit_part_def,
    emit_alias, emit_pack_chain;
// emit_constrained.cpp
Emitter emit_in_out, emit_tied, emit_early, emit_fixed, emit_precoloured, emit_call;
// emit_sequences.cpp
Emitter emit_ramp, emit_may_def_first, emit_guarded_run;

// --- what they share ------------------------------------------------------------------------------------------------

inline constexpr std::array<const char*, 9> kBinary = {"add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32",
                                                       "xor.b32", "shl.b32", "min.s32",    "max.f32"};

void alu(Builder& b, Key key);       // an operation of one to three uses and a def of this kind
void address(Builder& b, Draft& d);  // a use of an address
void store(Builder& b, int values);
void use_values(Builder& b, Draft& d, int count);
// A root, as a fixed or tied operand has to be: in `percent` of the cases an old one, if one is available, else a new one.
[[nodiscard]] ir::VRegId old_or_new_root(Builder& b, Key key, int percent);

}  // namespace regduel::generate
