// What a rewriting put into uniform registers, before the judge: a register of UR, UP or UB is one for all threads of a warp, so what is
// written there must be the same in all of them, and all of them must be there. The vregs of the program before that are in such
// registers, or that it marks `uniform`, are taken to be right.
//
//   region(t)   the blocks on ways from a branch t that not all threads take alike, up to the block that all these ways reach. An edge to a
//               block that only exits is no way
//   mixed(v)    a def of v has an operand or a guard that is mixed, is in a region, or comes from a place that differs by thread. Of a
//               vote or a reduction over a warp, the mask and the guard alone count
//
// the least solution. Finding: "uniform-value", at an instruction that writes a uniform register and is mixed itself, reads what is mixed or is
// in a region. Tested by uniform_values_test.cpp.
#pragma once

#include "ir/program.h"
#include "oracles/collector.h"

namespace regduel::oracles::rewrite {

//   known   how many vregs of `after` the program before had
// Cost: O(passes x (size + branches x blocks)).
void judge_uniform_values(const ir::Function& after, std::size_t known, Collector& out);

}  // namespace regduel::oracles::rewrite
