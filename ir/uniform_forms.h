// What the uniform path of each generation can do, as a table by SM: which instructions of PTX have a form that one unit executes for
// all threads of a warp, on UR and UP, and which instructions of the threads read one operand from UR, from the constant bank, or from the
// instruction itself. The instructions are those of the lists in NVIDIA's "CUDA Binary Utilities" (Turing, Ampere and Ada, Hopper,
// Blackwell); these lists name no types, so those of the forms for threads are taken. Of the integers, logic and
// predicates, scripts/measure/uniform-opcodes finds those that ptxas 13.0 emits for real kernels; single precision it emits for none of them.
// Tested by uniform_forms_test.cpp.
#pragma once

#include <string_view>

namespace regduel::ir {

// Whether an instruction of this name, with operands that all threads share, can write UR or UP. "const" and "copy" are names, too.
[[nodiscard]] bool has_uniform_form(int sm, std::string_view mnemonic);

// Whether an instruction of this name reads registers of the threads and has a form that writes its result, which is the same for all
// of them, to UR or UP: votes, and reductions over a warp.
[[nodiscard]] bool votes_into_uniform(int sm, std::string_view mnemonic);

// Whether an instruction of the threads can read one of its register operands from UR, or as a number in the instruction.
[[nodiscard]] bool takes_uniform_operand(int sm, std::string_view mnemonic);
// ... as c[][], a parameter of the kernel. From sm_90 on these are loaded into UR first.
[[nodiscard]] bool takes_constant_bank(int sm, std::string_view mnemonic);
// The address of a load or a store may be in UR.
[[nodiscard]] bool takes_uniform_address(int sm, std::string_view mnemonic);

}  // namespace regduel::ir
