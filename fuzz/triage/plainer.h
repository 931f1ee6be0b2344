// Plainer forms of a small failing case: each takes one trait away and puts something plainer in its place, which a reducer, who
// only takes away, can't do. Where the failure stays, it is not about that trait.
//
//   a clobber            a def that nobody reads
//   a second def         an instruction of its own
//   a part               the whole
//   a tie                a copy
//   a ret with operands  a plain operation that reads them, and an exit
//   a loop               its first two turns, one after the other
//   a lower limit        the whole file, and one more def that nobody reads, at one place after the other
//
// Tested by plainer_test.cpp.
#pragma once

#include <vector>

#include "duel/case.h"

namespace regduel::fuzz {

// Well-formed, with undefined reads only where the input has some. A form of what is not there is the input itself, numbered anew.
// Cost: O(size) a form; there are as many as there are places for a def, and a few more.
[[nodiscard]] std::vector<duel::Case> plainer_forms(const duel::Case& input);

}  // namespace regduel::fuzz
