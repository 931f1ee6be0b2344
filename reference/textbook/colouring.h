// What the textbook colourers have in common: a graph of one register file in, a colouring out. rounds.h spills what got no colour.
#pragma once

#include "ir/allocator.h"
#include "reference/colour/file_graph.h"
#include "reference/colour/select.h"

namespace regduel::reference {

struct Registers {
  UnitSet available;
  UnitSet last_resort;  // of these, the callee-saved ones
  bool coalesce = true;
  ir::Fuel* fuel = nullptr;
};

// May merge nodes of the graph. The nodes that failed are to be spilled, or to get room.
using ColourFile = Colouring (*)(FileGraph& graph, const Registers& registers);

}  // namespace regduel::reference
