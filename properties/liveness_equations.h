// The equations of liveness restricted to what a def reaches, solved block by block: what properties hold the liveness of passes
// and of the reference against.
//
//   reached_out(b) = reached_in(b) | written(b),   reached_in(b) = union over predecessors p of reached_out(p)
//   live_out(b)    = (edge_reads(b) | union over successors s of live_in(s)) & reached_out(b)
//   live_in(b)     = (exposed(b) | (live_out(b) - killed(b))) & reached_in(b)
#pragma once

#include <cstddef>
#include <vector>

namespace regduel::properties {

// By block, then by name.
using Rows = std::vector<std::vector<char>>;

struct LivenessEquations {
  LivenessEquations(std::size_t blocks, std::size_t names)
      : exposed(blocks, std::vector<char>(names, 0)), killed(exposed), written(exposed), edge_reads(exposed) {}

  Rows exposed, killed, written;  // exposed: read before any kill
  Rows edge_reads;                // read by a phi of a successor, on the edge from the block
};
struct SolvedLiveness {
  Rows in, out;
};

// each_predecessor(b, see) and each_successor(b, see) call see(index) for each.
template <class EachPredecessor, class EachSuccessor>
SolvedLiveness solve(const LivenessEquations& e, EachPredecessor&& each_predecessor, EachSuccessor&& each_successor) {
  const std::size_t blocks = e.exposed.size(), names = blocks == 0 ? 0 : e.exposed[0].size();
  const Rows none(blocks, std::vector<char>(names, 0));
  Rows reached_in = none, reached_out = none;
  SolvedLiveness s{none, none};
  const auto put = [](char& cell, bool value, bool& changed) {
    if (!value || cell != 0) return;
    cell = 1;
    changed = true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < blocks; ++b)
      for (std::size_t v = 0; v < names; ++v) {
        each_predecessor(b, [&](std::size_t p) { put(reached_in[b][v], reached_out[p][v] != 0, changed); });
        put(reached_out[b][v], reached_in[b][v] != 0 || e.written[b][v] != 0, changed);
      }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks; b-- > 0;)
      for (std::size_t v = 0; v < names; ++v) {
        bool at_end = e.edge_reads[b][v] != 0;
        each_successor(b, [&](std::size_t t) { at_end = at_end || s.in[t][v] != 0; });
        put(s.out[b][v], at_end && reached_out[b][v] != 0, changed);
        const bool at_head = e.exposed[b][v] != 0 || (s.out[b][v] != 0 && e.killed[b][v] == 0);
        put(s.in[b][v], at_head && reached_in[b][v] != 0, changed);
      }
  }
  return s;
}

}  // namespace regduel::properties
