// The allocation mode of one register file: which kinds of values a program keeps in it.
//
//   Plain       0  no phi, nothing bound to a register
//   Cssa        3  phis: the file holds values in (conventional) SSA form
//   Fixed       5  no phi, but operands fixed to registers, as around calls
//   CssaPaired  6  phis, and values of several units
//
// The source's mode is a number that its passes ask for; the source does not say how it is found. Here it is an enum, found from the
// original program with its phis (DECISIONS: modes, "ids 41-44, 39"). Architectural vregs (PT, RZ and their like: in the source
// certain ids, here a flag) are never allocated, and so bind nothing.
// Source: source 000 "Budget Computation", "Pre-Allocation Pass". Tested by mode_test.cpp.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace regduel::allocator {

enum class AllocationMode : std::uint8_t { Plain = 0, Cssa = 3, Fixed = 5, CssaPaired = 6 };

// By file. Requires: a program as it came in, with phis and aliases. Cost: O(operands).
[[nodiscard]] ir::PerFile<AllocationMode> modes_of(const ir::Function& program);

}  // namespace regduel::allocator
