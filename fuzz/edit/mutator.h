// Structure-aware mutations of a fuzz input: each changes one thing of the program, the limits, the knobs or the target, and what
// comes out is well-formed again. And crossover.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/random.h"
#include "duel/case.h"

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
  IfConvert,  // a stretch of a block comes under one guard
  ToggleEarly,
  ToggleClobber,        // of an instruction, a terminator too
  ToggleArchitectural,  // of a vreg: in one register from the entry to the end
  ToggleInOut,
  Tie,
  Fix,            // an operand to a register, or free again
  KeepAlive,      // a use at the end of some block: raises the pressure up to there
  RaisePressure,  // new vregs, all live at one point
  Retarget,       // an edge
  AddEdge,
  MakeIrreducible,  // an edge from outside into the middle of a loop
  WrapInLoop,       // a stretch of a block
  SplitBlock,
  InsertCall,
  InlineCall,  // an operation on the same values in its place
  Splice,      // a stretch of another program, generated
  InsertCopy,  // of vregs that are there: one pair, several, or a swap
  InsertPhi,
  ChangePart,    // of an operand: another piece of its vreg, or all of it
  ToggleAlias,   // a vreg becomes (a part of) another, or a storage of its own
  ReturnValues,  // a ret reads one more vreg, a program becomes a device function that returns, or a kernel that exits
  ToggleFlag,    // of an instruction
  ChangeLimit,
  ChangeKnob,  // of some allocator: set, another value, or default again
  ChangeTarget,
  DropUnusedVRegs,
};
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
