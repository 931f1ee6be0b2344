// Structure-aware mutations of a fuzz input: each changes one thing of the program, the limits or the target, and what comes
// out is well-formed again.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fuzz/fuzz_input.h"

namespace regduel::fuzz {

enum class Mutation : std::uint8_t {
  Regenerate,  // another program altogether
  DeleteInst,
  DuplicateInst,
  InsertInst,  // a named operation on vregs that are there
  MoveInst,
  RewireOperand,  // another vreg of the same file and width
  SwapOperands,
  ChangeClass,  // of a vreg: the other class of its file, or another file
  ChangeWidth,
  ChangeAlignment,
  ToggleGuard,
  ToggleEarly,
  ToggleInOut,
  Tie,
  Fix,        // an operand to a register, or free again
  KeepAlive,  // a use at the end of some block: raises the pressure up to there
  Retarget,   // an edge
  SplitBlock,
  ToggleFlag,  // of an instruction
  ChangeLimit,
  ChangeTarget,
  DropUnusedVRegs,
};
inline constexpr int kNumMutations = 22;
[[nodiscard]] std::string_view name(Mutation m);

// Applies `m` at a place that `seed` names. False, and the input as it was, where there is no such place or where the result
// would not be well-formed. Cost: O(size).
bool apply(Mutation m, FuzzInput& input, std::uint64_t seed);
// One to three mutations, drawn; always leaves a well-formed input, and changes something in nearly all cases.
void mutate(FuzzInput& input, std::uint64_t seed);

}  // namespace regduel::fuzz
