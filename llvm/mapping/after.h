// The program after allocation, against the program before. See map_pair.h for what becomes what.
#pragma once

#include "llvm/mapping/rir.h"
#include "llvm/mapping/rir_pair.h"

namespace regduel::llvm {

struct AfterText {
  std::vector<std::vector<std::string>> blocks;  // lines
  std::map<int, int> slot_bytes;                 // by stack object; lines name these as "slot @N+OFFSET"
  std::map<int, Site> sites;                     // of inserted instructions, and where originals are now
  Counts counts;
  int units = 0;  // of the file, those of unfolded operands included
};

// Throws Refusal. Requires: both cut (cut.h). An operand that a fold has untied loses its tie in `groups`.
[[nodiscard]] AfterText map_after(const Tables& tables, const Dump& before, const Dump& after, const Cells& cells, Groups& groups);

}  // namespace regduel::llvm
