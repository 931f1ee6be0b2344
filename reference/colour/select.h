// Optimistic selection: puts the nodes back in the opposite order and gives each the lowest free aligned position (Briggs,
// Cooper, Torczon 1994), or one that makes a copy that could not be coalesced an identity (biased colouring, ibid.).
// Units in `last_resort` (the callee-saved ones) are taken only where nothing else is free. Tested by select_test.cpp.
#pragma once

#include <vector>

#include "ir/allocator.h"
#include "reference/colour/file_graph.h"

namespace regduel::reference {

struct Colouring {
  std::vector<int> unit_of;    // by node: first unit, -1 = none; merged nodes have their representative's
  std::vector<NodeId> failed;  // nodes without colour, in the order in which they came up
};

struct SelectOptions {
  UnitSet available;
  UnitSet last_resort;
  bool biased = true;
  // Stops at the first failure, which is enough for an attempt with fewer registers. Merged nodes have no unit then.
  bool stop_at_failure = false;
  ir::Fuel* fuel = nullptr;  // spent for each biased choice
};

// `order` = what simplify returned for this graph. Cost O(edges + nodes).
[[nodiscard]] Colouring select(const FileGraph& graph, const std::vector<NodeId>& order, const SelectOptions& options);

}  // namespace regduel::reference
