// One allocation run of LLVM as a pair of RIR programs that the judges can read.
//
//   before   each instruction is a named operation of its registers; COPY a copy; IMPLICIT_DEF a copy of something never defined, so that it may be
//            deleted; live-in registers are defined by an operation of their own, at the entry and at landing pads. Physical registers are precoloured
//            vregs. A rematerialisable definition of several units is an operation a unit.
//   after    originals, by number, with the registers that they have now; what is new is a copy, a spill, a refill or a remat. An operand that
//            was folded into memory is unfolded: refilled into a fictional unit before, spilled from there behind. Which vreg a stack slot
//            is the home of, and whose value a remat computes, LLVM has said (JSON.md).
//
// A function that RIR cannot carry is refused with its kind; nothing is guessed. Not judged: reserved registers, the widths of copies and spills,
// which class a register is in (the machine verifier sees that), masked lanes (EXEC), and what later passes do.
// Tested by map_pair_test.cpp on corpus/llvm/json.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "llvm/mapping/rir_pair.h"

namespace regduel::llvm {

//   before, after   of one function and one run: before the allocator, and after it or a later pass
// Cost: O(size x registers).
[[nodiscard]] std::expected<RirPair, Refusal> map_pair(const Tables& tables, const Dump& before, const Dump& after);

// Which dumps belong together: for each run that had something to allocate, the one before and that after each of these passes; for an allocator that is not
// followed by them (fast), the one right after it. In the order of the file.
struct DumpPair {
  const Dump* before = nullptr;
  const Dump* after = nullptr;
};
[[nodiscard]] std::vector<DumpPair> pair_dumps(const DumpFile& file, const std::vector<std::string>& passes);

}  // namespace regduel::llvm
