// Dead code: copies, phis and repeatable defs that no instruction reads, and what only these read; and copies of what no path defines. An
// allocation may leave them out (FORMAT.md, "Allocated programs", 4).
//
// All else is needed: what cannot be left out, the defs that reach what it reads, the defs that reach what those read, and so on. So copies and
// phis around a loop that read only each other are dead, whatever else reads the same values elsewhere. A guarded def is no use of its own value.
// Tested by dead_code_test.cpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "reference/program/code.h"
#include "reference/program/problem.h"

namespace regduel::reference {

// Whether a parallel copy of which some defs are needed reads what it copies into the others.
enum class DeadCopies : std::uint8_t {
  Whole,  // it does: it stays or goes as a whole
  Pairs,  // it does not, as its pairs are no instruction that is executed
};

// Empties the lists of refs of dead code, leaves of copies of nothing what they write over, and takes kReads from what is read and undefined on all paths, and from guarded defs that use their
// value for nothing else. By index of Code::insts: 0, or why the instruction was dropped. Copies with clobbers stay.
// Cost: a search for each def, and one for each read of what is needed.
inline constexpr std::uint8_t kNoneReadsIt = 1;
inline constexpr std::uint8_t kCopiesNothing = 2;  // yet what it writes over is not read behind it
std::vector<std::uint8_t> drop_dead_code(const Problem& problem, Code& code, DeadCopies copies = DeadCopies::Whole);
// The reads of values that drop_dead_code has found undefined, as a Plan has them.
[[nodiscard]] std::vector<std::pair<std::uint32_t, TempId>> undefined_reads(const Code& code);

}  // namespace regduel::reference
