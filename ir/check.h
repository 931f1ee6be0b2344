// Well-formedness: the rules of FORMAT.md that every producer of a Function keeps and every consumer may rely on.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::ir {

struct Diagnostic {
  InstId inst;       // invalid = the function as a whole, or a declaration
  int operand = -1;  // index among the instruction's operands, -1 = the instruction as a whole
  VRegId vreg;       // for a fault in a declaration
  SlotId slot;
  BlockId block;
  std::string message;
};
[[nodiscard]] std::string to_string(const Function& f, const Diagnostic& d);

// All faults, in program order; empty = well-formed. Stops after `max_diagnostics`. Cost: O(n log n) in the size of f, and
// safe on a Function with any contents whatever (each index is checked before it is followed).
[[nodiscard]] std::vector<Diagnostic> check(const Function& f, int max_diagnostics = 20);
// The same, and the rules that depend on the target: it has the files, and fixed registers and clobbers lie in them, not
// reserved.
[[nodiscard]] std::vector<Diagnostic> check(const Function& f, const Target& target, int max_diagnostics = 20);

}  // namespace regduel::ir
