// The fewest units of a register file that colour a graph, proved: without merging and without spilling anything, tuples aligned.
//
//   available(k)  the first k units of the file
//   at_least      a clique (clique.h) that needs so many, also one of nodes that clobbers confine to few of them; or 1 + the most k for which
//                 a solver showed that available(k) do not do
//   at_most       the least k for which a colouring is there: by optimistic colouring (../colour), else by the solver
//
// A formula for a graph and k (colouring as satisfiability; CaDiCaL, Biere et al.):
//
//   x(n, p)   node n stands at position p (its first unit): one at least for each n
//   y(n, u)   node n holds unit u: of each x(n, p), for p <= u < p + units(n). Of scalars that is x(n, u) itself
//   not y(a, u) or not y(b, u)   for each edge and each unit that both could hold
//
// If no node is restricted and none precoloured, aligned blocks of units as large as the largest alignment can change places as a
// whole. So the nodes of a clique whose nodes fill a block each are put into the blocks in turn.
//
// The effort is counted in conflicts of the solver and not in seconds, so that the same question has the same answer everywhere.
// Source: ours, the third corner beside both allocators. Tested by fewest_units_test.cpp, against a search
// through all colourings and graphs of known chromatic number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/colour/file_graph.h"

namespace regduel::reference {

struct Effort {
  std::int64_t conflicts = 20'000;  // of one question to the solver, at least 1; one of more than 4 million clauses is not asked
  // Where the graph and the certificate of at_least go, as certificate.h has them: PATH.col, and PATH.clique or PATH.cnf and PATH.drat.
  // Empty = nowhere.
  std::string proof = {};
  std::vector<std::string> names = {};  // of the nodes there
};

struct FewestUnits {
  int at_least = 0;                  // no colouring has fewer units
  int at_most = -1;                  // one has so many; -1 = none is known, with all units there are
  std::vector<int> unit_of;          // by node, for at_most units; empty where there is none; of a precoloured node its register
  int clique = 0;                    // the fewest units in which the cliques that were found have room
  std::vector<NodeId> clique_nodes;  // that one which has no room in fewer; ascending
  int questions = 0;                 // to the solver

  [[nodiscard]] bool is_proved() const { return at_most == at_least; }
  // No colouring exists, with all units there are.
  [[nodiscard]] bool is_impossible(int units) const { return at_least > units; }
};

//   necessary   where this graph is given, at_least is about it, and at_most about `graph`; it has the same nodes and none but
//               edges of `graph`
// Requires: finish() was called, nothing is merged. Cost: exponential at worst; bounded by the effort.
[[nodiscard]] FewestUnits fewest_units(const FileGraph& graph, const UnitSet& all, const Effort& effort = {},
                                       const FileGraph* necessary = nullptr);

enum class Answer : std::uint8_t { Yes, No, Unknown };

struct Found {
  Answer answer = Answer::Unknown;
  std::vector<int> unit_of;  // by node, where the answer is Yes; of a precoloured node its register
};

// Whether the graph can be coloured with these units, and how; No is about `necessary`, where that is given. Requires and costs as
// fewest_units, for one question of each graph.
[[nodiscard]] Found find_colouring(const FileGraph& graph, const UnitSet& available, const Effort& effort = {},
                                   const FileGraph* necessary = nullptr);

}  // namespace regduel::reference
