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
//   shared(g)     bytes of shared memory: those of the slots that g stores to, and shared(callee(c)) of its calls. The slots of all
//                 functions of a block of threads begin at one address
//   live(c)       units, and shared bytes, that are read behind c before they are written; at a `ret` those that the function preserves
//
//   callee-clobber   a unit is in writes(callee(c)) and in live(c), and c neither defines nor clobbers it
//   shared-slot      a byte is in shared(callee(c)) and in live(c)
//
// Recursion makes writes and shared least solutions. Proves: with a pass of the other judges for each function, and of this one, the
// values of each function survive its calls inside the file. Out of sight: bodies in other files, for which the lists of the calls
// stand; arguments and results, which the calls list. Tested by calls_test.cpp.
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
// units of file R and of each file of its vregs and clobbers that it does not preserve, and those of its own callees. Where a call
// lists less, no allocator that sees one function at a time can make the file right.
[[nodiscard]] bool lists_what_callees_may_write(std::span<const FunctionOfFile> file);
// The units, one by one in ascending order, that a body of this function may write in that sense, without those of its callees.
[[nodiscard]] std::vector<ir::PReg> may_write(const ir::Function& before, const ir::Target& target);

// One result a function, in their order: of judge "calls"; findings are in the function that calls. A function without an allocation
// is skipped. Cost: O(size) and, where a callee writes what the list of a call does not have, passes x blocks x units.
[[nodiscard]] std::vector<JudgeResult> judge_calls(std::span<const FunctionOfFile> file);

}  // namespace regduel::oracles
