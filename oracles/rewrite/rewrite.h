// The judge of rewritings: passes that make another program of one (FORMAT.md, "Rewritings"), in which other instructions may compute
// what the effects read. An allocation of the result cannot be taken back to the program that came in, so the pair is judged by itself.
//
// What it compares:
//   skeleton   the blocks, the terminators with their numbers and targets, and the numbers of the effects of each block, in order
//              (meaning.h). An effect keeps opcode and mnemonic, and what keeps number, opcode and mnemonic its flags
//              and number of defs
//   bindings   what constraints.h compares of the instructions that are in both
//   values     both programs run on the same inputs along the same path (machine.h), and each effect happens in both or in neither, and
//              reads the same. What is undefined before may be anything afterwards
//   uniform    what is in a uniform register of the program after, and was not before, is the same in all threads (uniform_values.h)
//
// Proves nothing, as tests do not: a difference that shows on no run is missed. Each edge is taken where the fuel lasts.
// Tested by rewrite_test.cpp, and on each pass by properties/rewritings_test.cpp.
#pragma once

#include "ir/program.h"
#include "ir/target.h"
#include "oracles/judge.h"

namespace regduel::oracles {

struct RewriteOptions {
  int runs = 12;                          // with inputs of their own
  std::int64_t fuel_base = 2000;          // instructions of the program before that one of them may execute: fuel_base +
  std::int64_t fuel_per_instruction = 4;  // fuel_per_instruction x its instructions
  int runs_to_cover = 200;                // further ones, for edges not yet taken
  std::uint64_t seed = 0;
};
// Judge "rewrite"; categories skeleton, effect-order, changed-instruction, wrong-value, undefined-value, wrong-guard, uniform-value, and those of
// "constraints", each at an instruction of the program after where there is one. Inconclusive where edges were not taken.
// Requires: both well-formed for `target`, over vregs. Cost: O(size + instructions executed).
[[nodiscard]] JudgeResult judge_rewrite(const ir::Function& before, const ir::Function& after, const ir::Target& target,
                                        const RewriteOptions& options = {});

}  // namespace regduel::oracles
