// Certificates that no colouring has fewer units, as text for a checker (scripts/check-proof):
//
//   PATH.col     the graph: DIMACS, and lines for what DIMACS does not have
//                   a FIRST LAST        units that may be used, both included
//                   c vertex VERTEX NAME   its name in the program
//                   w VERTEX UNITS ALIGN
//                   f VERTEX FIRST LAST units in which the vertex cannot stand
//                   x VERTEX UNIT       a precoloured vertex: it has no edges
//   PATH.clique  a list: "k UNITS", then "v VERTEX" for each of a clique that has no room in the first UNITS - 1 units that may be used
//   PATH.cnf     otherwise the formula that there is a colouring with UNITS - 1 units ("c k UNITS"); "c x VERTEX UNIT VARIABLE" and
//                "c y VERTEX UNIT VARIABLE" name its variables (fewest_units.h), "c in turn VERTEX..." the clique whose vertices were
//                put into the blocks in turn
//   PATH.drat    and its refutation
//
// Tested by proof_test.cpp and scripts/check/check-proof-test.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reference/colour/file_graph.h"

namespace regduel::reference {

//   names   by node; empty = those of its vertices, "1" and so on
// Both throw BadInput where the file cannot be written.
void write_graph(const std::string& path, const FileGraph& graph, const UnitSet& available, std::span<const std::string> names);
void write_clique(const std::string& path, std::span<const NodeId> nodes, int units);

}  // namespace regduel::reference
