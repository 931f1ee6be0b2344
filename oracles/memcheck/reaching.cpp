// The numbering of definitions, and what a finished graph of values is asked. The graph is made in reaching_build.cpp.
// Tested by reaching_test.cpp and memcheck_test.cpp.

#include "oracles/memcheck/reaching.h"

#include <algorithm>

namespace regduel::oracles {

Definitions::Definitions(const ir::Function& before)
    : before_(before), ids_(before), first_leaf_(before.operands.size(), kNone), leaves_(1) {
  leaves_.reserve(before.insts.size() * 2);
  for (const ir::Inst& i : before.insts) {
    const auto ops = before.operands_of(i);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_register() || !ops[k].writes()) continue;
      first_leaf_[i.first_operand + k] = static_cast<LeafId>(leaves_.size());
      const int bytes = before.operand_bytes(ops[k]);
      for (int at = 0; at < bytes; at += 4) {
        const int valid = std::min(bytes - at, 4);
        leaves_.push_back({LeafKind::Def, i.id, static_cast<int>(k), static_cast<std::uint8_t>(valid)});
        // What a narrow def leaves undefined above itself follows its leaf.
        if (valid < 4) leaves_.push_back({LeafKind::Destroyed, i.id, static_cast<int>(k)});
      }
    }
  }
}

LeafId Definitions::add(Leaf leaf) {
  leaves_.push_back(leaf);
  return static_cast<LeafId>(leaves_.size() - 1);
}

ByteRef ReachGraph::read_byte(std::size_t operand, int i) const {
  const Read& read = reads_[operand];
  const int at = read.offset + i;
  const NodeId n = read_nodes_[read.first + static_cast<std::uint32_t>(at / 4)];
  const Node from = node(n);
  return from.kind == NodeKind::Compose ? compose_arg(from, at % 4) : ByteRef{n, at % 4};
}

}  // namespace regduel::oracles
