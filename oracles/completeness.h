// Completeness: can each instruction's operands be packed into the limit at all (FORMAT.md, "Demand")? An allocator that
// fails where they can has a bug.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracles/report.h"

namespace regduel::oracles {

enum class Feasibility {
  Feasible,    // a packing exists
  Impossible,  // proven: no packing exists
  Unknown,     // the search was given up; only an instruction with dozens of tied or guarded operands of mixed sizes comes here
};

struct CompletenessOptions {
  std::int64_t max_states = 500'000;  // search states for one file of one instruction
};

// Whether the operands of one instruction of `f` can be packed, in all files.
//   Requires  well-formed `f` in phase Virtual, `inst` one of its instructions.
//   Cost      O(operands + units) unless the limit is tight; then a search over arrangements up to symmetry.
[[nodiscard]] Feasibility feasibility(const ir::Function& f, const ir::Inst& inst, const ir::Target& target,
                                      const ir::Limits& limits, const CompletenessOptions& options = {});

// The first instruction in program order that is proven impossible; nullopt = none is.
//   exempt   by instruction (index into f.insts), as far as it goes: these are not asked about
[[nodiscard]] std::optional<ir::InstId> find_impossible(const ir::Function& f, const ir::Target& target, const ir::Limits& limits,
                                                        const std::vector<bool>& exempt = {});

// The least limit of `file` at which the instruction can be packed there; 0 = it has no operands in that file; nullopt = it
// cannot be packed into all the units that the target has. A search given up counts as "cannot".
[[nodiscard]] std::optional<int> demand(const ir::Function& f, const ir::Inst& inst, ir::RegFile file, const ir::Target& target);

// Judges an allocator's failure: pass where some instruction is impossible, fail with category "completeness" where each one
// can be packed, inconclusive where that could not be decided.
[[nodiscard]] JudgeResult judge_completeness(const Before& before, const ir::Limits& limits,
                                             const CompletenessOptions& options = {});

}  // namespace regduel::oracles
