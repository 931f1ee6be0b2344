// The pressure curve of a program and the live ranges around one vreg, for a terminal. Tested by live_text_test.cpp.
//
//   pressure on R: 21 units at the most, the limit is 16
//        21 |             #
//        18 |             #
//     -> 15 |    #       ##            #      (the line of the limit has an arrow)
//         3 | ############### ####################
//             ^b0  ^b1            ^b4
//   live ranges
//        %4 |     ########
//        %7 | ######## ###
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::cli {

// A column is one instruction, or the same number of them each where there are more than `columns`; it shows the most that is live
// in any of them. The live ranges are those of `vreg` and of the vregs of its file that are live with it longest, by number.
//   Requires  well-formed `f` in phase Virtual; columns at least 10
[[nodiscard]] std::string live_text(const ir::Function& f, const ir::Limits& limits, ir::VRegId vreg, std::size_t columns);

}  // namespace regduel::cli
