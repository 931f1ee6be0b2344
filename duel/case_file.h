// A case of the corpus: an .rir file whose comments say how to play it. These lines are read, all others are not:
//
//   // target: sm_90
//   // limit: R=16 P=7          files that are not named have the target's own size
//   // knob: NAME=VALUE
//   // verdict: pass             and "becomes: TEXT" are read by regduel test
//   // regduel duel FILE --with briggs --sm 90 --limit R=16 --knob NAME=VALUE     (--with is not read: all allocators play;
//                                                                                  quotes as for a shell)
//
// The last form is the head of a reproducer, so that a reproducer becomes a regression case by being moved.
#pragma once

#include <string>
#include <string_view>

#include "base/source_error.h"
#include "duel/case.h"

namespace regduel::duel {

// The target is the program's where nothing is said, or sm_90 where there is none of that name. The errors of the text form, and:
// no such target, no such file, a limit out of range, no function, a program that is not over vregs or not well-formed for the target.
// Of several functions the kernel is the program, or the first one where there is none; the others are its callees.
[[nodiscard]] Parsed<Case> parse_case(std::string_view text, std::string_view file_name = "");
// parse_case(print_case(c)) is c. `comment` may have several lines.
[[nodiscard]] std::string print_case(const Case& c, std::string_view comment = "");
// The program and its callees as one file of RIR.
[[nodiscard]] std::string print_functions(const Case& c);

}  // namespace regduel::duel
