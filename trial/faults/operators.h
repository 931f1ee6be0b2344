// Fault operators: each damages a correct allocation in one way that real allocators are known to get wrong. The judges are judged
// by their verdicts on the result (faults.h).
//
// An operator is a row of a table (operator_table.cpp): where it applies (a selector, site.h), what is changed there (an edit,
// edits.h), and which findings must be raised. Only the execution judge says what a fault does. A code of memcheck is asked for
// only where it follows from the program (origins.h). Of the places, tried in random order, the first at which one of the
// operator's own codes follows is taken, else one at which another code follows, else one at which none does.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trial/faults/edits.h"
#include "trial/faults/site.h"

namespace regduel::trial {

struct FaultOperator {
  std::string_view name;      // "dropped-refill"
  std::string_view what;      // one line: what is changed, and which mistake of an allocator it stands for
  std::vector<int> memcheck;  // the codes that it aims at; empty: not memcheck's matter
  // Categories of structure, of which one must always be raised; empty: not structure's matter.
  std::vector<std::string_view> structure;
  Selector where;
  Edit edit;
};

// All of them, in the order of the matrix. Names are unique.
[[nodiscard]] std::span<const FaultOperator> fault_operators();

struct Damaged {
  ir::Function program;  // well-formed (ir::check), and not the subject
  int code = 0;          // that memcheck has to raise where the trace changes; 0: any objection will do
};
// Nothing where the operator has no place. The same arguments, the same result.
[[nodiscard]] std::optional<Damaged> inject(const FaultOperator& op, const Site& site, Random& random);

}  // namespace regduel::trial
