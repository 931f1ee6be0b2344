// The numbering of definitions, and what a finished graph of values is asked. The graph is made in reaching_build.cpp.
// Tested by memcheck_test.cpp.

#include "oracles/reaching.h"

#include <algorithm>

namespace regduel::oracles {
namespace {

using IdIndex = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

IdIndex index_ids(const ir::Function& f) {
  IdIndex by_id;
  by_id.reserve(f.insts.size());
  for (std::uint32_t i = 0; i < f.insts.size(); ++i) by_id.emplace_back(f.insts[i].id.value, i);
  if (!std::is_sorted(by_id.begin(), by_id.end())) std::sort(by_id.begin(), by_id.end());
  return by_id;
}

std::uint32_t find_id(const IdIndex& by_id, ir::InstId id) {
  const auto found = std::lower_bound(by_id.begin(), by_id.end(), std::pair(id.value, 0u));
  return found == by_id.end() || found->first != id.value ? kNone : found->second;
}

}  // namespace

Definitions::Definitions(const ir::Function& before)
    : before_(before), by_id_(index_ids(before)), first_leaf_(before.operands.size(), kNone), leaves_(1) {
  for (const ir::Inst& i : before.insts) {
    const auto ops = before.operands_of(i);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_register() || !ops[k].writes()) continue;
      first_leaf_[i.first_operand + k] = static_cast<LeafId>(leaves_.size());
      const int bytes = before.operand_bytes(ops[k]);
      for (int at = 0; at < bytes; at += 4) {
        Leaf leaf;
        leaf.kind = LeafKind::Def;
        leaf.inst = i.id;
        leaf.operand = static_cast<int>(k);
        leaf.word = static_cast<std::uint32_t>(at / 4);
        leaf.valid = static_cast<std::uint8_t>(std::min(bytes - at, 4));
        leaves_.push_back(leaf);
        // What a narrow def leaves undefined above itself follows its leaf.
        if (leaf.valid == 4) continue;
        leaf.kind = LeafKind::Destroyed;
        leaf.valid = 4;
        leaves_.push_back(leaf);
      }
    }
  }
}

std::uint32_t Definitions::index_of(ir::InstId id) const { return find_id(by_id_, id); }

LeafId Definitions::add(Leaf leaf) {
  leaves_.push_back(leaf);
  return static_cast<LeafId>(leaves_.size() - 1);
}

std::uint32_t ReachGraph::index_of(ir::InstId id) const { return find_id(by_id_, id); }

ByteRef ReachGraph::read_byte(std::size_t operand, int i) const {
  const Read& read = reads_[operand];
  if (read.bytewise) return {read_nodes_[read.first + static_cast<std::uint32_t>(i)], 0};
  const int at = read.offset + i;
  const NodeId n = read_nodes_[read.first + static_cast<std::uint32_t>(at / 4)];
  return nodes_[n].kind == NodeKind::Compose ? compose_arg(nodes_[n], at % 4) : ByteRef{n, at % 4};
}

}  // namespace regduel::oracles
