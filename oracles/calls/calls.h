// The judge of a whole file: what a function writes comes back to its callers as they expect it.
//
// Each function of a file is judged by itself, under the clobbers that its calls list. This judge looks at the functions together.
//
//   callee(c)     of a call c: the function of the file that it names, if no other has that name, its body is the one that runs
//                 (no `.weak` function, which another may replace), and no register operand is without a fixed register: such a
//                 call goes through a register, and names its prototype
//   writes(g)     units: what the allocation of g writes or clobbers in reachable blocks, and writes(callee(c)) of its calls; less
//                 those that g preserves (FORMAT.md, "Allocated programs", 7); and those that the ABI of g has in both of its lists:
//                 the return address, which each call of g writes
//   meant(g)      the units of writes(g) that some function writes of which they are an architectural register. They are apart from
//                 the others: a unit may be in both
//   shared(g)     bytes of shared memory: those that spills of g store to, and shared(callee(c)) of its calls. The slots of all
//                 functions of a block of threads begin at one address
//   lost(c)       less those that c defines or clobbers: writes(callee(c)); and meant(callee(c)), but for the architectural registers
//                 of the caller
//   changed(c)    the units of meant(callee(c)) that are architectural of the caller too: what the callee puts there is meant for it
//
//   callee-clobber   the caller is wrong if lost(c) holds nothing known and changed(c) something new behind c (survival.h)
//   shared-slot      the caller is wrong if the bytes of shared(callee(c)) hold nothing known behind c
//
// "Wrong" is what the must-analysis of the judge `symbolic` says, at an operand with which it agrees otherwise: so a register counts
// where the program before reads a value and the register has to hold it. The finding names a unit or a byte without which the
// analysis would agree, and the instruction that reads.
//
// Recursion makes writes, meant and shared least solutions. Proves: with a pass of the other judges for each function, and of this
// one, the values of each function survive its calls inside the file. Out of sight: bodies in other files, for which the lists of the
// calls stand; arguments and results, which the calls list; and the return address of a function that itself calls. Its calls clobber
// R20:R21 in the program before, so the function has given them up (7), and `ret` names no register: saving the return address belongs
// to whoever makes instructions of `call` and `ret`. Tested by calls_test.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "oracles/judge.h"

namespace regduel::oracles {

inline constexpr std::string_view kCalls = "calls";  // the name of the judge

struct FunctionOfFile {
  const ir::Function* before = nullptr;  // with the clobbers under which it was allocated
  const ir::Function* after = nullptr;   // null = there is no allocation of it: its callers' lists stand
  const ir::Target* target = nullptr;
  bool is_replaceable = false;  // another body may be there when it runs
};

// The function of the file that a call of the program before goes to; "" if it goes through a register.
[[nodiscard]] std::string_view callee_name(const ir::Function& before, const ir::Inst& call);

// True if some function calls another one of the file, or itself.
[[nodiscard]] bool has_calls_inside(std::span<const FunctionOfFile> file);

// True if each call inside lists, as defs or clobbers, what its callee may write as far as the callee's declarations and ABI go: the
// units of file R and of each file of its vregs and clobbers that it does not preserve, its architectural registers only where it
// writes them, and those of its own callees. Where a call lists less, no allocator that sees one function at a time can make the file
// right.
[[nodiscard]] bool lists_what_callees_may_write(std::span<const FunctionOfFile> file);
// The units, one by one in ascending order, that a body of this function may write in that sense, without those of its callees.
[[nodiscard]] std::vector<ir::PReg> may_write(const ir::Function& before, const ir::Target& target);

// One result a function, in their order: of judge "calls"; findings are in the function that calls. A function without an allocation
// is skipped, and one that cannot be read beside the program before. Cost: O(size) and, where a callee writes what the list of a call
// does not have and the caller reads somewhere, that of the symbolic judge; where that fails, several times for each finding.
[[nodiscard]] std::vector<JudgeResult> judge_calls(std::span<const FunctionOfFile> file);

}  // namespace regduel::oracles
