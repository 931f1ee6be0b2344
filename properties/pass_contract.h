// Whether a pass kept its contract (passes/pass.h), told from the program before and the program after alone.
//
// The judges see what a pass did to values, and only through an allocation. What it left out or added against the contract, and
// made impossible to allocate by it, shows to them at some limits and to some allocators; here it shows at once.
// Tested by pass_contract_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::properties {

// One line a breach. Requires: both well-formed for `target`, over vregs, `after` the result of a pass on `before`. Cost: O(size),
// and a search for the demand of both.
[[nodiscard]] std::vector<std::string> breaches_of_contract(const ir::Function& before, const ir::Function& after,
                                                            const ir::Target& target);

}  // namespace regduel::properties
