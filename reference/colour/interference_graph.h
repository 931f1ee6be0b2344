// Builds the interference graphs, one for each register file.
//
// Construction (source 003, phase 2; Chaitin 1982): at each instruction, backwards,
//   - a def interferes with each temp that is live after it, even if the def is dead; a copy's source is excepted at that copy,
//     unless alignment lets the two tuples overlap in part;
//   - two defs of one instruction interfere;
//   - an early-clobber def, a def-use, a may-def and a def of a part hold their register while uses are read, and interfere
//     with these; uses of one instruction interfere with each other, even undefined ones;
//   - a temp that is live across a clobber cannot be in the clobbered units, nor can a def of a part of the instruction;
//   - operands of a ret are kept out of the callee-saved registers, which hold the caller's values again there.
// A precoloured temp has no edges. Instead its units are *forbidden* to the temps that interfere with it.
//
// Two more sets of edges serve proofs, by value (program/contents.h):
//
//   Value       each colouring of the graphs is an allocation, as of Chaitin's. Temps with the same contents do not interfere, and two
//               temps that an instruction only reads have no edge for that. Requires that dead code was dropped (program/dead_code.h).
//   Necessary   each allocation of the class below is a colouring of the graphs. Moves around an instruction, and those on an edge,
//               happen all at once; the copies before a terminator happen after it.
//
// The class: each value has one home, in which all its operands stand. No instruction writes to the home of a value that is live
// after it, except a copy within one home, which is left out. Only moves of phis and of fixed and tied operands are inserted.
// Tested by interference_graph_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/colour/file_graph.h"
#include "reference/program/code.h"
#include "reference/program/liveness.h"
#include "reference/program/problem.h"

namespace regduel::reference {

struct InterferenceGraphs {
  ir::PerFile<FileGraph> files;
  std::vector<NodeId> node_of;        // by temp; kNoNode for temps that no reachable instruction refers to, or of a file left out
  std::vector<std::uint8_t> is_dead;  // by index of Code::insts: what is left out, since no instruction reads its defs
};

enum class Edges : std::uint8_t { Chaitin, Value, Necessary };

// Costs and hints are not filled in here (spill/costs.h). The graphs of files that are left out stay empty.
// Cost O(refs x live temps + edges), and that of Contents except for Chaitin's.
[[nodiscard]] InterferenceGraphs build_interference_graphs(const Problem& problem, const Code& code, Liveness& liveness,
                                                           const ir::PerFile<bool>& left_out = {}, Edges edges = Edges::Chaitin);

}  // namespace regduel::reference
