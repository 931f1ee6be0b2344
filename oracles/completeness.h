// Completeness: can the operands of each instruction be packed into the limit (FORMAT.md, "Demand")? If they can, an allocator that
// fails has a bug. Tested by completeness_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "oracles/judge.h"

namespace regduel::oracles {

// Whether the operands of one instruction of `f` can be packed, in all files. Either answer is proven.
//   Requires  well-formed `f` in phase Virtual, `inst` one of its instructions.
//   Cost      O(operands + units) unless the limit is tight; then a search over the orders of its kinds of operands. The operands of
//             one moment take at most units x kinds x product over the kinds of (number of operands + 1) steps; milliseconds for
//             some 30 operands.
[[nodiscard]] bool is_feasible(const ir::Function& f, const ir::Inst& inst, const ir::Target& target, const ir::Limits& limits);

// The first instruction in program order that is proven impossible; nullopt = none is.
//   exempt   by instruction (index into f.insts): true = passed over; instructions behind its end are not exempt
[[nodiscard]] std::optional<ir::InstId> find_impossible(const ir::Function& f, const ir::Target& target, const ir::Limits& limits,
                                                        const std::vector<bool>& exempt = {});

// The least limit of `file` at which the instruction can be packed there; 0 = it has no operands in that file; nullopt = it
// cannot be packed into all the units that the target has.
[[nodiscard]] std::optional<int> demand(const ir::Function& f, const ir::Inst& inst, ir::RegFile file, const ir::Target& target);

// Judges an allocator's failure: pass if some instruction is impossible, fail with category "completeness" if each instruction can
// be packed.
[[nodiscard]] JudgeResult judge_completeness(const Before& before, const ir::Limits& limits);

}  // namespace regduel::oracles
