// Linear scan with a second chance.
//
//   O. Traub, G. Holloway, M. D. Smith, Quality and speed in linear-scan register allocation, PLDI 1998
//
// Second-chance binpacking: one walk over the code in a linear order gives each temporary a register where it is referred to, that with
// the smallest lifetime hole that is large enough, else that with the largest. Where none is free, the temporary goes to memory whose
// next reference is furthest away, weighed by how often it happens; a store is left out where memory is up to date. A
// temporary that is referred to again gets a second chance, in a register of its own. One that stands in the way of
// a fixed register moves on where another register is free. Edges of the graph are resolved afterwards. Deviations: the linear order is the
// reverse postorder; whether memory is up to date at the head of a loop is assumed, and made true on the way back, where the paper
// solves a dataflow equation. Tested by textbook_test.cpp.
#pragma once

#include "reference/textbook/split.h"

namespace regduel::reference {

[[nodiscard]] ir::Allocation allocate_by_linear_scan(const Problem& problem, ir::Fuel* fuel);

}  // namespace regduel::reference
